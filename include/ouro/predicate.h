// Predicates of `select` and aggregate reads, as data.
//
// A predicate is a tree of nodes held in flat arrays of its history: HistoryBuilder makes them,
// History::predicate() and its neighbours walk them. Comparisons follow SQL: they are neither true
// nor false when an operand is null, or when a number is compared with a text; and a row is
// selected only if the whole predicate is true. docs/predicates.md has the details.
//
// Example (built and run as tests/example_predicate.cc):
//
//   // [["select", {"eq": ["on_call", true]}, []]]
//   ouro::HistoryBuilder builder;
//   builder.begin_txn(builder.session("alice"));
//   const ouro::Value wanted[] = {ouro::Value::boolean(true)};
//   const ouro::ColumnId column = builder.column("on_call");
//   builder.select(builder.compare(ouro::PredicateKind::Eq, column, wanted), {});
//   const ouro::History history = *std::move(builder).freeze();
//   const ouro::PredicateRead& read = history.predicate_read(ouro::OpId{0});
//   const ouro::PredicateNode& node = history.predicate(read.predicate);
//   std::cout << history.column_name(node.column) << ' ' << ouro::info(node.kind).word << ' '
//             << history.text(history.operands(node).front()) << '\n';
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ouro/ids.h"
#include "ouro/value.h"

namespace ouro {

enum class PredicateKind : std::uint8_t {
  True,
  And,  // Any number of children.
  Or,   // Any number of children.
  Not,  // One child.
  Eq,   // From here to Ge: one operand.
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Between,  // Two operands, both ends included.
  In,       // Any number of operands.
  IsNull,   // No operand.
  Like,     // One operand, a pattern: % stands for any text, _ for one character.
  // Comparisons of terms, which are children: the two sides. A comparison of a column with a
  // constant is one of the kinds above.
  EqTerms,
  NeTerms,
  LtTerms,
  LeTerms,
  GtTerms,
  GeTerms,
  // Terms, which have a value for each row instead of a truth.
  Constant,  // One operand.
  Column,    // The value of the node's column. No operand.
  Add,       // At least two children, which are terms; so have the next ones.
  Subtract,  // Two children.
  Multiply,
};

// What all nodes of a kind have in common. Code asks this row instead of comparing kinds.
struct PredicateInfo {
  PredicateKind kind = PredicateKind::True;
  std::string_view word;      // What it is called in native text: "between".
  bool has_children = false;  // It combines other predicates, or terms.
  bool compares = false;      // It has a column and operands instead, which it compares.
  bool takes_terms = false;   // Its children are terms.
  bool term = false;          // It is a term itself.
  // Of comparisons, the same between a column and a constant, and between terms.
  PredicateKind plain = PredicateKind::True;
};
// One row for each kind, in the order of the enumeration.
inline constexpr std::size_t kPredicateKindCount = 25;
inline constexpr PredicateInfo kPredicateInfos[kPredicateKindCount] = {
    {.kind = PredicateKind::True, .word = "true"},
    {.kind = PredicateKind::And, .word = "and", .has_children = true},
    {.kind = PredicateKind::Or, .word = "or", .has_children = true},
    {.kind = PredicateKind::Not, .word = "not", .has_children = true},
    {.kind = PredicateKind::Eq, .word = "eq", .compares = true},
    {.kind = PredicateKind::Ne, .word = "ne", .compares = true},
    {.kind = PredicateKind::Lt, .word = "lt", .compares = true},
    {.kind = PredicateKind::Le, .word = "le", .compares = true},
    {.kind = PredicateKind::Gt, .word = "gt", .compares = true},
    {.kind = PredicateKind::Ge, .word = "ge", .compares = true},
    {.kind = PredicateKind::Between, .word = "between", .compares = true},
    {.kind = PredicateKind::In, .word = "in", .compares = true},
    {.kind = PredicateKind::IsNull, .word = "is_null", .compares = true},
    {.kind = PredicateKind::Like, .word = "like", .compares = true},
    {.kind = PredicateKind::EqTerms,
     .word = "eq",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Eq},
    {.kind = PredicateKind::NeTerms,
     .word = "ne",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Ne},
    {.kind = PredicateKind::LtTerms,
     .word = "lt",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Lt},
    {.kind = PredicateKind::LeTerms,
     .word = "le",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Le},
    {.kind = PredicateKind::GtTerms,
     .word = "gt",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Gt},
    {.kind = PredicateKind::GeTerms,
     .word = "ge",
     .has_children = true,
     .takes_terms = true,
     .plain = PredicateKind::Ge},
    {.kind = PredicateKind::Constant, .word = "", .compares = true, .term = true},
    {.kind = PredicateKind::Column, .word = "col", .compares = true, .term = true},
    {.kind = PredicateKind::Add,
     .word = "+",
     .has_children = true,
     .takes_terms = true,
     .term = true},
    {.kind = PredicateKind::Subtract,
     .word = "-",
     .has_children = true,
     .takes_terms = true,
     .term = true},
    {.kind = PredicateKind::Multiply,
     .word = "*",
     .has_children = true,
     .takes_terms = true,
     .term = true},
};
[[nodiscard]] constexpr const PredicateInfo& info(PredicateKind kind) {
  return kPredicateInfos[static_cast<std::size_t>(kind)];
}

// Names the root of a predicate, or any node in it.
using PredicateId = Id<struct PredicateTag>;

// And, Or and Not have children, and so have terms and their comparisons; the others compare one
// column with operands.
struct PredicateNode {
  PredicateKind kind = PredicateKind::True;
  ColumnId column;          // What is compared. Invalid: the row's key.
  std::uint32_t first = 0;  // Where History::children() or History::operands() finds them.
  std::uint32_t count = 0;  // How many there are.
};

// SQL's three truth values.
enum class Truth : std::uint8_t { False, Unknown, True };

enum class AggregateKind : std::uint8_t { Count, Sum, Min, Max, Avg };
// What native text and SQL call them, in the order of the enumeration.
inline constexpr std::size_t kAggregateKindCount = 5;
inline constexpr std::string_view kAggregateNames[kAggregateKindCount] = {"count", "sum", "min",
                                                                          "max", "avg"};
[[nodiscard]] constexpr std::string_view name(AggregateKind kind) {
  return kAggregateNames[static_cast<std::size_t>(kind)];
}
// Whether it adds values up. The zeros at the end of such a result tell how precise it is.
[[nodiscard]] constexpr bool adds_up(AggregateKind kind) {
  return kind == AggregateKind::Sum || kind == AggregateKind::Avg;
}

}  // namespace ouro
