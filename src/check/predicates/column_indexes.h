// Sorted columns of rows, which find those of which a predicate may be true.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/slice.h"
#include "check/predicates/predicate_bounds.h"
#include "ouro/history.h"

namespace ouro {

// `Place` says which row it is, and can be compared.
template <class Place>
class ColumnIndexes {
 public:
  struct Entry {
    std::int64_t number = 0;  // That of the cell (predicate_bounds.h).
    Place place;
    constexpr auto operator<=>(const Entry&) const = default;
  };

  // Builds the indexes that narrowest() needs for `bounds`. `for_each_row(f)` calls f(row, place)
  // for all rows, every time the same ones.
  template <class ForEachRow>
  void prepare(const History& history, std::span<const Bounds> bounds,
               const ForEachRow& for_each_row) {
    for (const Bounds& each : bounds) {
      if (!each.column.valid()) continue;
      const auto [at, added] = indexes_.try_emplace(each.column);
      if (!added) continue;
      Index& index = at->second;
      for_each_row([&](Value row, const Place& place) {
        const Value cell = history.cell(row, each.column);
        const auto number = index_number(history, cell);
        if (!number) return;
        index.entries.push_back({*number, place});
        index.only_integers &= cell.kind() == ValueKind::Integer;
      });
      std::sort(index.entries.begin(), index.entries.end());
    }
  }

  // The rows within the bounds of one column: of that with the fewest. Nothing if `bounds` are of
  // no column. REQUIRES: prepare() was called for them.
  [[nodiscard]] std::optional<std::span<const Entry>> narrowest(
      std::span<const Bounds> bounds) const {
    std::optional<std::span<const Entry>> out;
    for (const Bounds& each : bounds) {
      if (!each.column.valid()) continue;
      const auto found = within(each);
      if (!out || found.size() < out->size()) out = found;
    }
    return out;
  }

  // Whether all numbers of the column are integers. REQUIRES: as narrowest().
  [[nodiscard]] bool only_integers(ColumnId column) const {
    return indexes_.at(column).only_integers;
  }

 private:
  struct Index {
    std::vector<Entry> entries;  // Sorted.
    bool only_integers = true;
  };

  [[nodiscard]] std::span<const Entry> within(const Bounds& bounds) const {
    const std::vector<Entry>& index = indexes_.at(bounds.column).entries;
    const std::int64_t lower = lower_number(bounds);
    const std::int64_t upper = upper_number(bounds);
    const auto first = std::partition_point(index.begin(), index.end(),
                                            [&](const Entry& e) { return e.number < lower; });
    const auto end = std::partition_point(first, index.end(),
                                          [&](const Entry& e) { return e.number <= upper; });
    return slice(index, first, end);
  }

  absl::flat_hash_map<ColumnId, Index> indexes_;
};

}  // namespace ouro
