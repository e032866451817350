// The rows of a database at one moment of a timeline, with indexes for predicates.
//
// Keys are numbered by the order of their names, so that a scan is a range of them. A column that
// predicates compare with integers gets an index when that first happens.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "check/predicates/predicate_bounds.h"
#include "check/timeline/replay.h"
#include "ouro/history.h"

namespace ouro {

class Rows {
 public:
  // The rows as the initial transaction leaves them. Lists are no rows.
  Rows(const History& history, const ListKeys& lists);

  struct Row {
    Value value;
    bool alive = false;  // False: deleted, or never there.
  };
  // Whether the key is a row, not a list.
  [[nodiscard]] bool has(KeyId key) const { return place_[key.index()] != kNone; }
  // REQUIRES: has(key).
  [[nodiscard]] const Row& row(KeyId key) const { return rows_[place_[key.index()]]; }
  // REQUIRES: has(key).
  void set(KeyId key, Row row);

  // The rows that a predicate read should return now, sorted by key.
  // Cost: a scan looks at the rows of its range; others at those within the bounds of the key or of
  // one column, or at all.
  [[nodiscard]] std::vector<KeyVersion> selected(OpKind kind, const PredicateRead& read);
  // How many rows selected() has looked at so far.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }
  // The rows that a predicate read did return, in the same order. A tombstone that it listed is no
  // row.
  [[nodiscard]] std::vector<KeyVersion> returned(const PredicateRead& read) const;

 private:
  using RowNumber = std::uint32_t;  // An index into keys_ and rows_.
  // The number of a cell (predicate_bounds.h), and its row.
  using ColumnIndex = absl::btree_set<std::pair<std::int64_t, RowNumber>>;

  [[nodiscard]] std::vector<RowNumber> candidates(OpKind kind, const PredicateRead& read);
  [[nodiscard]] std::pair<RowNumber, RowNumber> range(Value lower, Value upper) const;
  [[nodiscard]] std::vector<RowNumber> lookup(const Bounds& bounds);
  ColumnIndex& index_of(ColumnId column);
  void index_row(ColumnIndex& index, ColumnId column, RowNumber place, bool add) const;
  [[nodiscard]] bool less(Value a, Value b) const;

  static constexpr RowNumber kNone = 0xffffffff;
  const History& h_;
  std::vector<KeyId> keys_;       // Sorted by name.
  std::vector<Row> rows_;         // One row per key, at the same index as keys_.
  std::vector<RowNumber> place_;  // By key; kNone: a list.
  absl::flat_hash_map<ColumnId, ColumnIndex> indexes_;
  std::uint64_t looked_at_ = 0;
};

// Rows as JSON: [[key,value],…].
[[nodiscard]] std::string rows_text(const History& history, const std::vector<KeyVersion>& rows);

}  // namespace ouro
