// The rows of counters, found a second time (history/commuting.h says what they are).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ouro/history.h"

namespace ouro::recheck {

class CounterRows {
 public:
  explicit CounterRows(const History& history);

  // The row of an increment by a transaction that did not abort. Later increments of the same
  // counter by the same transaction overwrite it.
  struct Row {
    KeyId key;
    TxnId txn;
    OpId op;
    std::int64_t delta = 0;  // Of all its increments so far.
    bool is_last = true;
  };
  // Whether an operation is a read of a counter.
  [[nodiscard]] bool is_read(const Op& op) const;
  // The rows of the counter that `read` is a read of. REQUIRES: is_read().
  [[nodiscard]] std::span<const Row> rows(const PredicateRead& read) const;
  // What the transaction of a read has itself added to the counter by then.
  [[nodiscard]] std::int64_t own(OpId read) const;
  // A number of a counter times a power of ten, the same for all, so that it is an integer; nothing
  // for other values. So are all numbers here.
  [[nodiscard]] std::optional<std::int64_t> whole(Value number) const;
  // What that counter was at the start.
  [[nodiscard]] std::int64_t initial(const PredicateRead& read) const;

 private:
  [[nodiscard]] Value counter_of(const PredicateRead& read) const;
  void note(Value value, const Row* row);
  void note_places(Value number);

  const History* h_;
  ColumnId counter_;  // The columns of rows; invalid: there are no counters.
  ColumnId delta_;
  std::size_t places_ = 0;  // The exponent of that power.
  absl::flat_hash_map<Value, std::vector<Row>> rows_;
  absl::flat_hash_map<Value, std::int64_t> initial_;
};

}  // namespace ouro::recheck
