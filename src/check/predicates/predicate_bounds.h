// Bounds that a predicate sets to single columns, so that an index finds the rows that may match.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// Wherever the predicate is true, a column or the key lies between two integers, both included.
struct Bounds {
  ColumnId column;  // Invalid: the key.
  Value lower;      // Null: no lower bound.
  Value upper;

  [[nodiscard]] double width() const;  // Infinite if an end is open.
};

// The bounds that a conjunction of comparisons sets, at most one for each column; none for other
// predicates. Rows within the bounds need not match: bounds may be too wide, never too narrow.
[[nodiscard]] std::vector<Bounds> bounds_of(const History& history, PredicateId predicate);

// Whether a predicate whose bounds_of() are `bounds` is true of all rows that have an integer
// within them.
[[nodiscard]] bool bounds_suffice(const History& history, PredicateId predicate,
                                  std::span<const Bounds> bounds);

// The number by which an index finds a cell: the largest integer that is not greater. As bounds are
// integers, a number is within them only if that integer is. What is beyond 64 bits gets the least
// or the greatest number, and so does what is not finite. Nothing if the cell is no number: no
// bounds include it.
[[nodiscard]] std::optional<std::int64_t> index_number(const History& history, Value cell);

// The ends of `bounds` as such numbers; an open end is the least or the greatest.
[[nodiscard]] std::int64_t lower_number(const Bounds& bounds);
[[nodiscard]] std::int64_t upper_number(const Bounds& bounds);

}  // namespace ouro
