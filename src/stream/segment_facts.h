// What the transactions of a segment say about the keys at its beginning and at its end, without a
// search (check_segments.cc).
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ouro/history.h"

namespace ouro::segments {

class SegmentFacts {
 public:
  // The first read of a key in a transaction that has not written it before.
  struct Read {
    TxnId txn;
    KeyId key;
    Value value;
    bool open = false;  // It is a compare-and-set that failed: it read something else.
  };
  // The last write of a key in a transaction that did not abort.
  struct Write {
    KeyId key;
    Value value;
    TxnId txn;
  };

  // `late` are transactions of unknown outcome that may have happened in an earlier segment.
  // `may_hold` says whether a key may hold a value when the segment begins.
  using MayHold = std::function<bool(KeyId, Value)>;
  SegmentFacts(const History& history, std::int64_t clock_drift,
               const absl::flat_hash_set<TxnId>& late, const MayHold& may_hold);

  [[nodiscard]] const std::vector<Read>& reads() const { return reads_; }
  // Sorted by key; of one key in the order of the transactions.
  [[nodiscard]] const std::vector<Write>& writes() const { return writes_; }
  // Whether any transaction of the segment wrote the value, even one that aborted.
  [[nodiscard]] bool wrote(KeyId key, Value value) const {
    return written_.contains({key, value});
  }
  // Whether the transaction counts in every legal order: it committed, or one that does read what
  // only it can have written.
  [[nodiscard]] bool counts(TxnId txn) const { return counts_[txn.index()]; }
  // Whether it counts, and happened in this segment.
  [[nodiscard]] bool is_here(TxnId txn) const { return counts(txn) && !late_.contains(txn); }
  // Whether some transaction that did not abort may have read what `txn` wrote.
  [[nodiscard]] bool may_be_read(TxnId txn) const { return maybe_read_.contains(txn); }
  // Whether the version that `write` left cannot be the newest one at the end of the segment,
  // whatever the order.
  [[nodiscard]] bool is_overwritten(const Write& write) const;

 private:
  struct Writers {
    TxnId last;       // The last one in the history.
    bool one = true;  // There is no other.
  };
  using Version = std::pair<KeyId, Value>;

  void find_operations();
  void find_those_that_count(const MayHold& may_hold);
  void find_latest_invocations();

  const History& h_;
  const std::int64_t drift_;
  const absl::flat_hash_set<TxnId>& late_;
  std::vector<Read> reads_;
  std::vector<Write> writes_;
  absl::flat_hash_map<Version, Writers> written_;
  std::vector<bool> counts_;
  absl::flat_hash_set<TxnId> maybe_read_;
  // By writer and key: a transaction that happened here read the version and wrote the key.
  absl::flat_hash_set<std::pair<TxnId, KeyId>> replaced_;
  // By key: the latest invocation of those that wrote it here, and of all but that one.
  struct Latest {
    TxnId txn;
    std::int64_t invoked = kNoClock;
    std::int64_t others = kNoClock;
  };
  std::vector<Latest> latest_;
};

}  // namespace ouro::segments
