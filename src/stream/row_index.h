// Which rows have a column between two numbers now, and which have changed since some moment.
//
// Only the newest version of a row is known here. What held at some moment is among those rows that
// match now and those that were written later.
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
  // REQUIRES: values of `all`.
  void add(const History& all, const Newest& row);
  void remove(const History& all, const Newest& row);

  [[nodiscard]] bool has(ColumnId column) const { return columns_.contains(column); }
  // Columns that are asked for get an index, but not any number of them.
  [[nodiscard]] bool has_room() const { return columns_.size() < kMostColumns; }
  // Adds an index; the caller must then give all rows to fill(). REQUIRES: !has(column).
  void begin(ColumnId column) { columns_.try_emplace(column); }
  void fill(const History& all, ColumnId column, const Newest& row) {
    change(all, column, columns_[column], row, true);
  }

  // All rows that may lie within `bounds` at `moment`, each once; false if they are more than
  // `most`. REQUIRES: has(bounds.column).
  [[nodiscard]] bool find(const Bounds& bounds, const Moment& moment, std::size_t most,
                          std::vector<KeyId>& found) const;
  [[nodiscard]] std::size_t bytes() const { return entries_ * 24 + by_time_.size() * 40; }

 private:
  static constexpr std::size_t kMostColumns = 16;
  using Numbers = absl::btree_set<std::pair<std::int64_t, KeyId>>;
  void change(const History& all, ColumnId column, Numbers& numbers, const Newest& row, bool add);

  absl::flat_hash_map<ColumnId, Numbers> columns_;
  absl::btree_set<std::pair<Moment, KeyId>> by_time_;
  std::size_t entries_ = 0;
};

}  // namespace ouro::stream
