// Turns the transactions of a batch into what the stream judges: their moments on the timeline,
// the reads that show what others wrote, and what they wrote themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/level_rules.h"
#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"
#include "stream/cold_keys.h"
#include "stream/fingerprint.h"
#include "stream/initials.h"
#include "stream/key_table.h"
#include "stream/moment.h"

namespace ouro::stream {

// A read that shows what other transactions wrote: the first read of a register that its
// transaction had not written before, or the first read of a list. (An open read is one of a failed
// compare-and-set: only a value that it did *not* return is known, and so there may be several.)
struct OuterRead {
  KeyState* key = nullptr;
  std::uint32_t op = 0;     // Counted within the transaction.
  std::uint64_t value = 0;  // Fingerprint. Of a list: without the transaction's own elements.
  bool open = false;        // Whether the value is what it did not return.
};

// All writes of a transaction to one key.
struct KeyWrite {
  KeyState* key = nullptr;
  std::uint32_t op = 0;     // The first write of the key, counted within the transaction.
  std::uint64_t value = 0;  // Fingerprint of what the last one wrote.
  ListHash appended;        // Of a list: all elements that the transaction appended.
};

// A read that contradicts what its own transaction did before.
struct InnerFinding {
  AnomalyKind kind = AnomalyKind::Internal;
  std::uint32_t op = 0;        // The read, counted within the transaction.
  std::uint32_t other_op = 0;  // The operation that it contradicts.
};

// A write that makes no version, because its own transaction overwrote it, or because its
// transaction has no moments. It is kept to name the writer if a read returns it nevertheless.
struct HiddenWrite {
  KeyState* key = nullptr;
  std::uint64_t value = 0;
};

// When a transaction begins and commits.
[[nodiscard]] TxnMoments moments_of(const History& history, TxnId txn, Arrival arrival,
                                    const LevelRules& rules);

// The elements of a list read. Null is the empty list.
[[nodiscard]] std::span<const Value> elements(const History& history, Value value);

// A transaction as the stream judges it. If its moments are not known, it has hidden writes only.
struct Arriving : TxnMoments {
  TxnId txn;  // Its number in the batch.
  Arrival arrival = 0;
  std::vector<std::uint32_t> predicate_reads;  // Operations, counted within the transaction.
  std::vector<OuterRead> reads;
  std::vector<KeyWrite> written;
  std::vector<HiddenWrite> hidden;
  std::vector<InnerFinding> inner;
};

class BatchReader {
 public:
  BatchReader(KeyTable& keys, ColdKeys& cold, const Initials& initials, const LevelRules& rules)
      : keys_(keys), cold_(cold), initials_(initials), rules_(rules) {}

  // Prepares for take(): brings all keys of the batch into memory. The error is a batch that cannot
  // be taken; then no key has changed. REQUIRES: `batch` lives until the next call.
  Status enter(const History& batch);
  // Reads a transaction of the batch. The next call overwrites what is returned.
  const Arriving& take(TxnId txn, Arrival arrival);
  // Prefetch into the cache what a later take() of `txn` will need: first its keys, then the newest
  // versions and reads of these, which requires that the keys have arrived.
  void prefetch_keys(TxnId txn) const;
  void prefetch_tails(TxnId txn) const;

  [[nodiscard]] KeyState* key(KeyId id) const { return touched_[id.index()].key; }
  [[nodiscard]] std::uint64_t fingerprint(Value value) { return values_.of(value); }
  [[nodiscard]] Fingerprints& fingerprints() { return values_; }
  // Keys that this batch is the first to show to be lists.
  [[nodiscard]] const std::vector<KeyId>& new_lists() const { return new_lists_; }
  // Whether some key is a list; set for a stream that was restored from a checkpoint.
  void restore(bool has_lists) { has_lists_ = has_lists; }
  [[nodiscard]] bool has_lists() const { return has_lists_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // What a transaction did to a key of the batch. Entries of earlier transactions are overwritten.
  struct Touched {
    KeyState* key = nullptr;
    Arrival by = kNobody;           // The transaction.
    std::uint64_t value = 0;        // Fingerprint of what it read or wrote last.
    std::uint32_t op = 0;           // The operation that did so.
    std::uint32_t written = kNone;  // Index into Arriving::written.
    std::uint32_t read = kNone;     // Of a list: the operation that read it last.
  };

  [[nodiscard]] Status check_batch(const History& batch) const;
  Status check_kinds(const History& batch);
  void find_keys(const History& batch);
  void take_ops(TxnId txn, Arrival arrival);
  void hide_ops(TxnId txn);
  void note_write(Touched& touched, std::uint32_t op, OpKind kind, Value value);
  void note_read(Touched& touched, bool first, std::uint32_t op, Value value);
  void note_open_read(const Touched& touched, bool first, std::uint32_t op, Value value);
  void note_list_read(Touched& touched, std::uint32_t op, Value value);
  // Fills own_ with the elements that the transaction appended to the list after its operation
  // `from` (kNone: from its beginning) and before `to`.
  void gather_own(KeyId key, std::uint32_t from, std::uint32_t to);

  KeyTable& keys_;
  ColdKeys& cold_;
  const Initials& initials_;
  const LevelRules& rules_;
  bool has_lists_ = false;
  std::vector<KeyId> new_lists_;
  const History* batch_ = nullptr;
  Fingerprints values_;
  std::vector<Name> names_;
  std::vector<std::uint64_t> hashes_;
  std::vector<KeyState*> states_;  // By KeyId of the batch, as ColdKeys found them.
  std::vector<Touched> touched_;   // By KeyId of the batch.
  std::vector<Value> own_;
  std::uint32_t first_op_ = 0;  // The first operation of the transaction at hand.
  Arriving out_;
};

}  // namespace ouro::stream
