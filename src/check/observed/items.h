// A history's operations as single reads and writes of keys.
//
// Where a history has no predicate reads the items are its operations, and nothing is copied.
// Otherwise each row that a scan or select returned becomes a read. What the version set of a scan
// lists of a key is what it read of it. A scan also reads the absence of every known key in its
// range that it did not return, lists apart, which are no rows.
// Of the keys that predicate reads do not tell of (ReadKey) by observation only those become reads
// that are asked for, and by version orders those of scans. Keys that a scan with a version set did
// not return are always reads, and so are, for all scans, those that its transaction wrote before.
// A row that was returned as null was not found.
// Of the rows that scans returned all become reads, or only some that are chosen (RowChoice).
// A read of a counter becomes one open read for each row of the counter that another transaction
// wrote, and a CounterSum.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/listed_rows.h"
#include "history/access.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

class SortedKeys;

using ItemId = Id<struct ItemTag>;
__extension__ using WideInt = __int128;  // Holds the sum of 2³² numbers of 64 bits, and more.

// What a transaction that did not abort added to a counter in all.
struct CounterShare {
  Value counter;
  TxnId txn;
  KeyId row;
  std::int64_t delta = 0;
};

// What the rows that a read of a counter saw must add up to.
struct CounterSum {
  OpId op;
  TxnId txn;
  Value counter;
  ItemId first;  // Its items, each a row that it saw or did not see.
  ItemId end;
  WideInt target = 0;  // Of the rows that others wrote: what was there at the start is taken off.
};

class Items {
 public:
  // REQUIRES: `history` outlives the items. They are incomplete once the budget is exhausted. By
  // observation reads of counters are taken apart, and `untold`, which is sorted, says which keys
  // that predicate reads do not tell of are reads. `rows` says which rows of scans are.
  Items(const History& history, const Budget& budget, Evidence evidence = Evidence::Observed,
        std::span<const ReadKey> untold = {}, const RowChoice& rows = {});

  // Whether there are more than can be numbered. Then they are incomplete and must not be used.
  [[nodiscard]] bool too_many() const { return too_many_; }

  // Reads of counters, sorted by their items; and what a row adds to its counter.
  [[nodiscard]] std::span<const CounterSum> sums() const { return sums_; }
  [[nodiscard]] std::int64_t delta(KeyId row) const { return delta_[row.index()]; }
  [[nodiscard]] std::span<const CounterShare> shares() const { return shares_; }
  // Who wrote a row of a counter. REQUIRES: `row` is the key of an item of a CounterSum.
  [[nodiscard]] TxnId row_writer(KeyId row) const { return row_writer_[row.index()]; }
  // Whether reads of counters are left out, as they are too many.
  [[nodiscard]] bool left_out_sums() const { return left_out_sums_; }
  // Whether an item is one of a CounterSum.
  [[nodiscard]] bool is_summed(ItemId item) const {
    return !sums_.empty() && is_open_read(kind(item)) &&
           op_kind_[op(item).index()] == OpKind::Aggregate;
  }

  [[nodiscard]] std::size_t size() const { return kind_.size(); }
  [[nodiscard]] OpKind kind(ItemId item) const { return kind_[item.index()]; }
  // Invalid for aggregates, which read no single key.
  [[nodiscard]] KeyId key(ItemId item) const { return key_[item.index()]; }
  [[nodiscard]] Value value(ItemId item) const { return value_[item.index()]; }
  // The operation that the item is, or is a part of.
  [[nodiscard]] OpId op(ItemId item) const {
    return op_.empty() ? OpId{item.index()} : op_[item.index()];
  }
  [[nodiscard]] ItemId first(TxnId txn) const { return ItemId{first_[txn.index()]}; }
  [[nodiscard]] ItemId end(TxnId txn) const { return ItemId{first_[txn.index() + 1]}; }
  [[nodiscard]] bool is_read(ItemId item) const { return looks_at_key(kind(item)); }
  [[nodiscard]] bool is_write(ItemId item) const { return ouro::is_write(kind(item)); }
  // Whether the item says that a scan did not find the key. A row that was returned as null counts
  // as not found. The value is null, or the tombstone that the version set of the scan lists.
  // What a predicate read does not tell of counts as not found.
  [[nodiscard]] bool is_absence(ItemId item) const {
    if (op_.empty() || !is_read(item)) return false;
    if (op_kind_[op(item).index()] != OpKind::Scan) return is_untold(item);
    return value(item).is_null() || (!unreturned_.empty() && unreturned_.contains(item));
  }
  // Whether the item is a key that a predicate read does not tell of.
  [[nodiscard]] bool is_untold(ItemId item) const {
    return !untold_.empty() && untold_[item.index()];
  }
  // Whether there are such items.
  [[nodiscard]] bool has_untold() const { return !untold_.empty(); }

 private:
  class Absent;
  class Counters;
  class Chosen;
  void add(OpKind kind, KeyId key, Value value, OpId op);
  void note_untold();
  void flatten(const History& history, const Budget& budget, Evidence evidence,
               std::span<const ReadKey> untold, const RowChoice& rows);

  std::span<const OpKind> op_kind_;  // By operation, not by item.
  std::span<const OpKind> kind_;
  std::span<const KeyId> key_;
  std::span<const Value> value_;
  // Empty: items are operations.
  std::span<const OpId> op_;
  std::span<const std::uint32_t> first_;

  bool too_many_ = false;
  bool left_out_sums_ = false;
  std::vector<CounterSum> sums_;
  std::vector<CounterShare> shares_;
  std::vector<std::int64_t> delta_;  // By key; empty if there are no counters.
  std::vector<TxnId> row_writer_;    // By key; empty if there are no counters.
  // What the spans above refer to, if the history has predicate reads; otherwise empty.
  std::vector<OpKind> own_kind_;
  std::vector<KeyId> own_key_;
  std::vector<Value> own_value_;
  std::vector<OpId> own_op_;
  std::vector<std::uint32_t> own_first_;
  absl::flat_hash_set<ItemId> unreturned_;  // Versions that only the version set of a scan lists.
  std::vector<bool> untold_;  // By item; empty: none is.
};

// The keys in the range of a scan that its transaction wrote before and that it did not return;
// sorted.
[[nodiscard]] std::vector<KeyId> own_absences(const History& history, const SortedKeys& keys,
                                              OpId scan);

// Whether some scan lists the tombstone that a delete left.
[[nodiscard]] bool scans_list_tombstones(const History& history);

}  // namespace ouro
