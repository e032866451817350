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

// A read of a key that shows what others wrote to it.
struct OuterRead {
  KeyState* key = nullptr;
  std::uint32_t op = 0;     // Counted within the transaction.
  std::uint64_t value = 0;  // Of a list: without the transaction's own elements.
  bool open = false;        // The value is what it did not return.
};

struct KeyWrite {
  KeyState* key = nullptr;
  std::uint32_t op = 0;     // The first write of the key.
  std::uint64_t value = 0;  // What the last one wrote.
  ListHash appended;        // Of a list: all elements.
};

// A read that contradicts what its own transaction did before.
struct InnerFinding {
  AnomalyKind kind = AnomalyKind::Internal;
  std::uint32_t op = 0;
  std::uint32_t other_op = 0;
};

// A write that is no version: overwritten in its own transaction, or of one without moments. It
// can only explain a read that should not have seen it.
struct HiddenWrite {
  KeyState* key = nullptr;
  std::uint64_t value = 0;
};

// When a transaction begins and commits.
[[nodiscard]] TxnMoments moments_of(const History& history, TxnId txn, Arrival arrival,
                                    const LevelRules& rules);

// The elements of a list read. Null is the empty list.
[[nodiscard]] std::span<const Value> elements(const History& history, Value value);

struct Arriving : TxnMoments {
  TxnId txn;
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

  // Prepares for take(). The error is a batch that cannot be taken; then no key has changed.
  Status enter(const History& batch);
  // A transaction of the batch; the next call overwrites what is returned.
  const Arriving& take(TxnId txn, Arrival arrival);
  // Loads what take() will need of a transaction that comes soon.
  void prefetch_keys(TxnId txn) const;
  void prefetch_tails(TxnId txn) const;

  [[nodiscard]] KeyState* key(KeyId id) const { return touched_[id.index()].key; }
  [[nodiscard]] std::uint64_t fingerprint(Value value) { return values_.of(value); }
  [[nodiscard]] Fingerprints& fingerprints() { return values_; }
  // Keys that this batch is the first to show to be lists.
  [[nodiscard]] const std::vector<KeyId>& new_lists() const { return new_lists_; }
  // For a stream that was restored from a checkpoint.
  void restore(bool has_lists) { has_lists_ = has_lists; }
  [[nodiscard]] bool has_lists() const { return has_lists_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // What the transaction at hand did to a key of the batch.
  struct Touched {
    KeyState* key = nullptr;
    Arrival by = kNobody;
    std::uint64_t value = 0;        // What it read or wrote last.
    std::uint32_t op = 0;           // The operation that read or wrote it.
    std::uint32_t written = kNone;  // Index into Arriving::written.
    std::uint32_t read = kNone;     // Of a list: its last read.
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
  // The elements that the transaction appended to the list after its operation `from` (or from its
  // beginning) and before `to`.
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
  std::vector<KeyState*> states_;  // As ColdKeys found them.
  std::vector<Touched> touched_;   // By KeyId of the batch.
  std::vector<Value> own_;
  std::uint32_t first_op_ = 0;
  Arriving out_;
};

}  // namespace ouro::stream
