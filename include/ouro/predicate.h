// Predicates of `select` and aggregate reads, as data.
//
// A predicate is a tree of nodes held in flat arrays of its history. Comparisons
// follow SQL: they are neither true nor false when an operand is null, and a row
// is selected only if the whole predicate is true.
#pragma once

#include <cstdint>
#include <span>

#include "ouro/ids.h"
#include "ouro/value.h"

namespace ouro {

enum class PredicateKind : std::uint8_t {
  True,
  And,
  Or,
  Not,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Between,  // Two operands, both ends included.
  In,       // Any number of operands.
  IsNull,
};

using PredicateId = Id<struct PredicateTag>;

// And, Or and Not have children; the others compare one column with operands.
struct PredicateNode {
  PredicateKind kind = PredicateKind::True;
  ColumnId column;          // Invalid: the row's key.
  std::uint32_t first = 0;  // Into the children or the operands.
  std::uint32_t count = 0;
};

// SQL's three truth values.
enum class Truth : std::uint8_t { False, Unknown, True };

enum class AggregateKind : std::uint8_t { Count, Sum, Min, Max };

}  // namespace ouro
