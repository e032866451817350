// Predicates of `select` and aggregate reads, as data.
//
// A predicate is a tree of nodes held in flat arrays of its history: HistoryBuilder makes them,
// History::predicate() and its neighbours walk them. Comparisons follow SQL: they are neither true
// nor false when an operand is null, or when a number is compared with a text; and a row is
// selected only if the whole predicate is true. docs/predicates.md has the details.
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
};

// What all nodes of a kind have in common. Code asks this row instead of comparing kinds.
struct PredicateInfo {
  PredicateKind kind = PredicateKind::True;
  std::string_view word;      // What it is called in native text: "between".
  bool has_children = false;  // It combines other predicates.
  bool compares = false;      // It compares one column with operands.
};
// One row for each kind, in the order of the enumeration.
inline constexpr std::size_t kPredicateKindCount = 13;
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
};
[[nodiscard]] constexpr const PredicateInfo& info(PredicateKind kind) {
  return kPredicateInfos[static_cast<std::size_t>(kind)];
}

// Names the root of a predicate, or any node in it.
using PredicateId = Id<struct PredicateTag>;

// And, Or and Not have children; the others compare one column with operands.
struct PredicateNode {
  PredicateKind kind = PredicateKind::True;
  ColumnId column;          // What is compared. Invalid: the row's key.
  std::uint32_t first = 0;  // Where History::children() or History::operands() finds them.
  std::uint32_t count = 0;  // How many there are.
};

// SQL's three truth values.
enum class Truth : std::uint8_t { False, Unknown, True };

enum class AggregateKind : std::uint8_t { Count, Sum, Min, Max };
// What native text and SQL call them, in the order of the enumeration.
inline constexpr std::size_t kAggregateKindCount = 4;
inline constexpr std::string_view kAggregateNames[kAggregateKindCount] = {"count", "sum", "min",
                                                                          "max"};
[[nodiscard]] constexpr std::string_view name(AggregateKind kind) {
  return kAggregateNames[static_cast<std::size_t>(kind)];
}

}  // namespace ouro
