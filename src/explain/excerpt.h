// Makes parts of a history, many of them from one; excerpt() in explain.h says what a part is.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "explain/row_grounds.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// A part of a history, with what its transactions, operations and keys are called in the whole.
struct Excerpt {
  History history;
  std::vector<TxnId> txns;
  std::vector<OpId> ops;
  std::vector<KeyId> keys;
};

class Excerpter {
 public:
  // `keys`: by key, whether parts may touch it; empty: any. `history` must outlive the excerpter.
  // Cost: linear, but hashing only for writes of those keys; with predicate reads, by versions,
  // that of RowGrounds.
  explicit Excerpter(const History& history, Evidence evidence, std::vector<bool> keys = {});

  [[nodiscard]] const History& history() const { return h_; }

  // The transactions `txns`, ascending; of those the operations that `kept` tells to keep, a bit
  // for each of the history. REQUIRES: no operation of another transaction is to be kept.
  [[nodiscard]] Excerpt make(std::span<const TxnId> txns, const std::vector<bool>& kept) const;

  // The whole history, and in it a key of which `reader` reads the initial value and `writer`
  // writes another; neither the key nor these operations have a name in the whole.
  [[nodiscard]] Excerpt whole_with(TxnId reader, TxnId writer) const;

  // The whole history, and in it a transaction, its last one, that saw both of these, and of a key
  // that both wrote what `later` did: so `earlier` committed first. Nothing else follows from it.
  // What was added has no name in the whole. REQUIRES: both count.
  [[nodiscard]] Excerpt whole_ordered(TxnId earlier, TxnId later) const;

  // Who wrote `value`: the transactions that did not abort, or else, if it is not the initial
  // value, those that did.
  [[nodiscard]] std::span<const OpId> sources(KeyId key, Value value) const;
  [[nodiscard]] bool knows(KeyId key) const { return keys_.empty() || keys_[key.index()]; }

  [[nodiscard]] Evidence evidence() const { return evidence_; }
  // The last write of the same transaction to the same key; by versions: otherwise the write
  // itself.
  [[nodiscard]] OpId installed(OpId write) const;
  // What a predicate read rests on; null: nothing but what it returned.
  [[nodiscard]] const std::vector<RowGrounds::Row>* grounds(OpId read) const;
  // As RowGrounds::is_even(). REQUIRES: the row is one of the read's grounds.
  [[nodiscard]] bool is_even(OpId read, const RowGrounds::Row& row,
                             const std::function<bool(OpId)>& stays) const {
    return row.position && grounds_->is_even(read, row, stays);
  }
  // The last writes of a key that some read is open of, by transactions that did not abort: any of
  // them may be what it returned.
  [[nodiscard]] std::span<const OpId> last_writes(KeyId key) const;
  // The deletes of a key by transactions that did not abort.
  [[nodiscard]] std::span<const OpId> deletes(KeyId key) const;
  // Keys in a range, both ends included, null: open, that have a value from the start.
  [[nodiscard]] std::span<const KeyId> initial_rows(Value lower, Value upper) const {
    return within(initial_rows_, lower, upper);
  }
  // Those that a scan may lack for more than one reason: they were deleted with a tombstone, and no
  // scan lists any.
  [[nodiscard]] std::span<const KeyId> unclear_rows(Value lower, Value upper) const {
    return within(unclear_rows_, lower, upper);
  }

 private:
  struct Writes {
    std::vector<OpId> alive;
    std::vector<OpId> aborted;
  };

  void note(OpId write, bool aborted);
  void find_last_writes();
  void find_unclear_rows();
  void sort_by_name(std::vector<KeyId>& keys) const;
  [[nodiscard]] std::span<const KeyId> within(std::span<const KeyId> keys, Value lower,
                                              Value upper) const;

  const History& h_;
  Evidence evidence_;
  std::vector<bool> keys_;
  absl::flat_hash_map<std::pair<KeyId, Value>, Writes> writes_;
  absl::flat_hash_map<KeyId, std::vector<OpId>> deletes_;
  absl::flat_hash_map<OpId, OpId> overwritten_;  // By the last write of their transaction.
  absl::flat_hash_map<KeyId, std::vector<OpId>> last_writes_;  // Of keys with an open read.
  std::vector<KeyId> initial_rows_;                            // By name.
  std::vector<KeyId> unclear_rows_;                            // Likewise.
  std::unique_ptr<RowGrounds> grounds_;  // Null: not by versions, or no predicate reads.
};

}  // namespace ouro
