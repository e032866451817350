// Which of the rows that a history has in any version matter to a select or aggregate.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "check/predicates/column_indexes.h"
#include "check/predicates/possible_result.h"
#include "ouro/history.h"

namespace ouro {

class WrittenRows {
 public:
  struct Row {
    KeyVersion version;
    bool initially = false;  // Whether nobody wrote it.
  };

  // `history` must outlive it. REQUIRES: `rows` are neither lists nor deleted.
  WrittenRows(const History& history, std::vector<Row> rows)
      : h_(history), rows_(std::move(rows)) {}

  // Calls f(row) for each row that counts for a read (RowPart), in an order that depends on
  // nothing else. Cost: of a predicate that bounds a column, the rows within the bounds, and once
  // for each such column all rows; otherwise all rows.
  template <class F>
  void for_each_that_counts(const PredicateRead& read, const F& f) {
    const auto bounds = prepared_bounds(read.predicate);
    const auto look = [&](const Row& row) {
      ++looked_at_;
      if (row_part(h_, read, row.version).counts) f(row);
    };
    if (const auto found = indexes_.narrowest(bounds)) {
      for (const auto& entry : *found) look(rows_[entry.place]);
    } else {
      for (const Row& row : rows_) look(row);
    }
  }

  // How many rows that looks at.
  [[nodiscard]] std::size_t scope(PredicateId predicate) {
    const auto found = indexes_.narrowest(prepared_bounds(predicate));
    return found ? found->size() : rows_.size();
  }

  // How many rows it has looked at so far.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

 private:
  std::vector<Bounds> prepared_bounds(PredicateId predicate) {
    auto bounds = bounds_of(h_, predicate);
    indexes_.prepare(h_, bounds, [&](const auto& add) {
      looked_at_ += rows_.size();
      for (std::uint32_t i = 0; i < rows_.size(); ++i) add(rows_[i].version.value, i);
    });
    return bounds;
  }

  const History& h_;
  std::vector<Row> rows_;
  ColumnIndexes<std::uint32_t> indexes_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace ouro
