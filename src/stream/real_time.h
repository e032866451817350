// Checks the order of transactions by their timestamps against real time, by the clients' clocks.
//
// A transaction must follow all that had completed when it was invoked: they commit before it
// begins (or commits; see RealTimeRule). It suffices to compare it with the one of them that
// commits last. So only those completed transactions are kept that commit later than all that
// completed before them: the stairs, whose clocks and commits both ascend. A completed transaction
// that arrives late concerns the transactions that were invoked after it completed, up to the next
// stair.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "stream/codec.h"
#include "stream/moment.h"

namespace ouro::stream {

class RealTime {
 public:
  explicit RealTime(std::int64_t clock_drift) : drift_(clock_drift) {}

  // A transaction that should have followed `other`, but does not by its timestamps. `was` is the
  // one that was named before; kNobody: it followed all, as far as was known.
  struct Change {
    Arrival txn = 0;
    Arrival was = kNobody;
    Arrival other = kNobody;
  };

  // Adds a transaction that completed at `clock`. Then changes() has the transactions that should
  // have followed it. False if some that it may concern were forgotten.
  bool complete(std::int64_t clock, const Moment& commit, Arrival txn);
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  // Adds a transaction that was invoked at `clock`; those completed before must commit before
  // `moment`. Returns one that does not, or kNobody. Sets `known` to false if some of those that
  // had completed were forgotten.
  Arrival invoke(std::int64_t clock, const Moment& moment, Arrival txn, bool& known);
  // What invoke() would return now. REQUIRES: the transaction was added by invoke().
  [[nodiscard]] Arrival missed_by(std::int64_t clock, Arrival txn) const;

  // Whether a transaction that is not forgotten was invoked at `clock`.
  [[nodiscard]] bool invoked_at(std::int64_t clock) const;

  // Forgets what only late transactions need. Transactions before `first` are final.
  void forget_before(Arrival first);
  // The same where clocks are numbers that count from 0 or 1, so that only those can come late
  // whose numbers are missing: forgets transactions before `open` until a number is missing, and
  // behind that those before `kept`.
  void forget_settled(Arrival open, Arrival kept);
  [[nodiscard]] std::size_t bytes() const { return invoked_.size() * 64 + stairs_.size() * 56; }

  void save(Encoder& out) const;
  void restore(Decoder& in);

 private:
  // A transaction that completed.
  struct Stair {
    Moment commit;
    Arrival txn = kNobody;
  };
  // A transaction that was invoked, and the one it should have followed.
  struct Invoked {
    Moment moment;
    Arrival missed = kNobody;
  };

  [[nodiscard]] Arrival judge(std::int64_t clock, const Moment& moment) const;
  // Of the stairs before all that were invoked from `oldest` on the last one stays: it stands for
  // the others.
  void forget_stairs(std::int64_t oldest);

  std::int64_t drift_;
  absl::btree_map<std::int64_t, Stair> stairs_;  // By when they completed.
  absl::btree_map<std::pair<std::int64_t, Arrival>, Invoked> invoked_;
  std::vector<Change> changes_;
  // The latest clocks of what was forgotten: of transactions invoked, and of stairs.
  std::int64_t forgotten_invoked_ = kNoClock;
  std::int64_t forgotten_stair_ = kNoClock;
};

}  // namespace ouro::stream
