// What a predicate says about single columns, for indexes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// A column, or the key, lies between two integers, both included, wherever the predicate is true.
struct Bounds {
  ColumnId column;  // Invalid: the key.
  Value lower;      // Null: open.
  Value upper;

  [[nodiscard]] double width() const;  // Infinite if an end is open.
};

// All that follows from a conjunction of comparisons; at most one for each column.
[[nodiscard]] std::vector<Bounds> bounds_of(const History& history, PredicateId predicate);

// Where a cell stands among integers, near enough: integers too large for a handle lie beyond all
// that are not, so they stand at the ends. Nothing if it is no integer, so no bounds include it.
[[nodiscard]] std::optional<std::int64_t> index_number(const History& history, Value cell);

// The ends of bounds as such numbers.
[[nodiscard]] std::int64_t lower_number(const Bounds& bounds);
[[nodiscard]] std::int64_t upper_number(const Bounds& bounds);

}  // namespace ouro
