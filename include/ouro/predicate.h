// Predicates of `select` and aggregate reads, as data.
//
// A predicate is a tree of nodes held in flat arrays of its history: HistoryBuilder makes them,
// History::predicate() and its neighbours walk them. Comparisons follow SQL: they are neither true
// nor false when an operand is null, or when a number is compared with a text; and a row is
// selected only if the whole predicate is true. docs/predicates.md has the details.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace ouro
