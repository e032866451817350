// Makes parts of a history, many of the same one; excerpt() in ouro/explain.h says what a part is.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "explain/row_grounds.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// A part of a history, and the ids that its transactions, operations and keys have in the whole;
// each vector is indexed by the id in the part.
struct Excerpt {
  History history;
  History whole;  // What it is a part of.
  std::vector<TxnId> txns;
  std::vector<OpId> ops;
  std::vector<KeyId> keys;
  std::uint64_t steps = 0;  // What its predicate reads took, in steps of work (budget.h).
};

class Excerpter {
 public:
  // `keys`: by KeyId, whether parts may have operations on it; empty: all. `lacking`: whether parts
  // may lack writes of it, undone ones included, that the history has; empty: all, and predicate
  // reads make it so, too. `history` must outlive the excerpter. Cost: linear, with hashing only
  // for writes of keys that are in both.
  explicit Excerpter(const History& history, Evidence evidence, std::vector<bool> keys = {},
                     std::vector<bool> lacking = {});

  [[nodiscard]] const History& history() const { return h_; }

  // The part with the transactions `txns`, and of their operations those whose bit in `kept` is
  // set. REQUIRES: `txns` ascend; `kept` is indexed by OpId, and set for no other transaction.
  [[nodiscard]] Excerpt make(std::span<const TxnId> txns, const std::vector<bool>& kept) const;

  // The whole history with a new key, of which `reader` reads the initial value and to which
  // `writer` writes another, so that `reader` did not see `writer`. The new key and operations have
  // invalid ids in the whole.
  [[nodiscard]] Excerpt whole_with(TxnId reader, TxnId writer) const;

  // The whole history with a new last transaction that saw both `earlier` and `later`, and of a new
  // key that both wrote saw the value of `later`: so `earlier` committed first. Nothing else
  // follows from it. What is new has invalid ids in the whole. REQUIRES: both transactions count.
  [[nodiscard]] Excerpt whole_ordered(TxnId earlier, TxnId later) const;

  // The writes of `value` by transactions that did not abort. If there are none and it is not the
  // initial value, those by transactions that aborted. REQUIRES: parts may lack writes of the key.
  [[nodiscard]] std::span<const OpId> sources(KeyId key, Value value) const;
  // Whether parts may have operations on the key.
  [[nodiscard]] bool knows(KeyId key) const { return keys_.empty() || keys_[key.index()]; }
  // Whether parts may lack writes of the key. If not, what was written to it is there.
  [[nodiscard]] bool may_lack(KeyId key) const {
    return lacking_.empty() || lacking_[key.index()];
  }

  [[nodiscard]] Evidence evidence() const { return evidence_; }
  // By versions the last write of the same transaction to the same key, without which `write` is
  // not kept; by other evidence `write` itself.
  [[nodiscard]] OpId installed(OpId write) const;
  // What a predicate read rests on (row_grounds.h); null: nothing but what it returned.
  [[nodiscard]] const std::vector<RowGrounds::Row>* grounds(OpId read) const;
  // The rows that mattered to a predicate read of which it is open what it saw; null: it is none.
  [[nodiscard]] const std::vector<RowGrounds::Matter>* open_rows(OpId read) const {
    return grounds_ ? grounds_->open(read) : nullptr;
  }
  // About what it takes to make a part with all predicate reads, in steps of work.
  [[nodiscard]] std::uint64_t steps_for_all() const {
    return grounds_ ? grounds_->steps_for_all() : 0;
  }
  // What these two took since the last call, in steps of work.
  [[nodiscard]] std::uint64_t take_steps() const { return grounds_ ? grounds_->take_steps() : 0; }
  // All writes of a key by transactions that did not abort.
  [[nodiscard]] std::span<const OpId> writes_of(KeyId key) const;
  // As RowGrounds::is_even(). REQUIRES: the row is one of the read's grounds.
  [[nodiscard]] bool is_even(OpId read, const RowGrounds::Row& row,
                             const std::function<bool(OpId)>& stays) const {
    return row.position && grounds_->is_even(read, row, stays);
  }
  // The last write of each transaction that did not abort to a key that has an open read, which may
  // have returned any of them. Empty for other keys.
  [[nodiscard]] std::span<const OpId> last_writes(KeyId key) const;
  // What a read of a counter is about: the writes of the counter's rows by transactions that did
  // not abort, and the rows that were there at the start. Null for all other operations, and unless
  // the evidence is what was observed.
  struct CounterRows {
    std::vector<OpId> writes;
    std::vector<KeyId> initial;
  };
  [[nodiscard]] const CounterRows* counter_rows(const Op& read) const;
  // The deletes of a key by transactions that did not abort.
  [[nodiscard]] std::span<const OpId> deletes(KeyId key) const;
  // Keys from `lower` to `upper`, both included (null: no bound), whose initial value is not null.
  [[nodiscard]] std::span<const KeyId> initial_rows(Value lower, Value upper) const {
    return within(initial_rows_, lower, upper);
  }
  // By timestamps: keys in the range that a scan may lack for more than one reason: before they
  // were written, or after a deletion. They were deleted with tombstones, but no scan of the
  // history lists any tombstone, which would say which deletion it saw.
  [[nodiscard]] std::span<const KeyId> unclear_rows(Value lower, Value upper) const {
    return within(unclear_rows_, lower, upper);
  }
  // But by timestamps: keys in the range that somebody deleted.
  [[nodiscard]] std::span<const KeyId> deleted_rows(Value lower, Value upper) const {
    return within(deleted_rows_, lower, upper);
  }

 private:
  using KeyValue = std::pair<KeyId, Value>;

  [[nodiscard]] bool notes(KeyId key) const { return knows(key) && may_lack(key); }
  [[nodiscard]] std::size_t count_writes() const;
  void note(OpId write, bool aborted);
  void find_last_writes();
  void find_counter_rows();
  void find_unclear_rows();
  void find_deleted_rows();
  void sort_by_name(std::vector<KeyId>& keys) const;
  [[nodiscard]] std::span<const KeyId> within(std::span<const KeyId> keys, Value lower,
                                              Value upper) const;

  const History& h_;
  Evidence evidence_;
  std::vector<bool> keys_;
  std::vector<bool> lacking_;
  // The writes of a value by transactions that did not abort: the only one, or an invalid id if
  // there are several, which are in several_. Most values of a history are written once.
  absl::flat_hash_map<KeyValue, OpId> alive_;
  absl::flat_hash_map<KeyValue, std::vector<OpId>> several_;
  absl::flat_hash_map<KeyValue, std::vector<OpId>> aborted_;  // By those that aborted.
  absl::flat_hash_map<KeyId, std::vector<OpId>> deletes_;
  absl::flat_hash_map<OpId, OpId> overwritten_;  // See installed(); without the last writes.
  absl::flat_hash_map<KeyId, std::vector<OpId>> last_writes_;
  absl::flat_hash_map<Value, CounterRows> counter_rows_;
  absl::flat_hash_map<KeyId, std::vector<OpId>> writes_of_;  // If grounds_ is there.
  std::vector<KeyId> initial_rows_;                          // Sorted by name.
  std::vector<KeyId> unclear_rows_;                          // Sorted by name.
  std::vector<KeyId> deleted_rows_;                          // Sorted by name.
  std::unique_ptr<RowGrounds> grounds_;  // Null: by timestamps, or no predicate reads.
};

// The part with all operations of `txns`. REQUIRES: `txns` ascend.
// Cost: one pass over the history, and hashing for writes of the keys of these operations.
[[nodiscard]] Excerpt whole_txns(const History& history, std::span<const TxnId> txns,
                                 Evidence evidence);

}  // namespace ouro
