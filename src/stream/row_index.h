// Finds rows by the number in one of their columns.
//
// The index has only the newest version of each row. The rows that matched at an earlier moment are
// among those that match now and those whose newest version is at that moment or later; so rows are
// also indexed by the moment of their newest version.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "check/predicates/predicate_bounds.h"
#include "ouro/history.h"
#include "stream/moment.h"

namespace ouro::stream {

class RowIndex {
 public:
  // The newest version of a row.
  struct Newest {
    KeyId key;
    Moment at;
    Value value;
    bool alive = false;
  };
  // Adds or removes a row. REQUIRES: the row has values of `all`.
  void add(const History& all, const Newest& row);
  void remove(const History& all, const Newest& row);

  [[nodiscard]] bool has(ColumnId column) const { return columns_.contains(column); }
  // Whether another column may get an index: their number is limited.
  [[nodiscard]] bool has_room() const { return columns_.size() < kMostColumns; }
  // Adds an index; the caller must then give all rows to fill(). REQUIRES: !has(column).
  void begin(ColumnId column) { columns_.try_emplace(column); }
  void fill(const History& all, ColumnId column, const Newest& row) {
    change(all, column, columns_[column], row, true);
  }

  // Adds to `found` all rows that may lie within `bounds` at `moment`, each once, sorted; false if
  // there may be more than `most`. REQUIRES: has(bounds.column); `found` is empty.
  [[nodiscard]] bool find(const Bounds& bounds, const Moment& moment, std::size_t most,
                          std::vector<KeyId>& found) const;
  [[nodiscard]] std::size_t bytes() const { return entries_ * 24 + by_time_.size() * 40; }

 private:
  static constexpr std::size_t kMostColumns = 16;
  using Numbers = absl::btree_set<std::pair<std::int64_t, KeyId>>;
  void change(const History& all, ColumnId column, Numbers& numbers, const Newest& row, bool add);

  absl::flat_hash_map<ColumnId, Numbers> columns_;
  absl::btree_set<std::pair<Moment, KeyId>> by_time_;  // By the moment of the newest version.
  std::size_t entries_ = 0;                            // In all of columns_.
};

}  // namespace ouro::stream
