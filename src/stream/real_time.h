// Who had completed, by the clocks of the clients, when a transaction was invoked, and committed
// last of those.
//
// That transaction must commit before the one invoked begins (or commits: RealTimeRule). Of the
// completions only those matter that commit later than all completed before them: a staircase. A
// completion that comes late concerns the transactions invoked behind it, up to the next stair.
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

  // A transaction that should have followed `other`; kNobody: none.
  struct Change {
    Arrival txn = 0;
    Arrival was = kNobody;
    Arrival other = kNobody;
  };

  // A transaction completed. What that changes of others is in changes(). False if some of those
  // that it may concern were forgotten.
  bool complete(std::int64_t clock, const Moment& commit, Arrival txn);
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
  // A transaction was invoked; who completed before must commit before its `moment`. Whom
  // kNobody. `known`: set to false if that was forgotten.
  Arrival invoke(std::int64_t clock, const Moment& moment, Arrival txn, bool& known);
  // The same as judged now. REQUIRES: it was invoked.
  [[nodiscard]] Arrival missed_by(std::int64_t clock, Arrival txn) const;

  // Forgets what only late transactions could ask for: those before `first` are final.
  void forget_before(Arrival first);
  [[nodiscard]] std::size_t bytes() const { return invoked_.size() * 64 + stairs_.size() * 56; }

  void save(Encoder& out) const;
  void restore(Decoder& in);

 private:
  struct Stair {
    Moment commit;
    Arrival txn = kNobody;
  };
  struct Invoked {
    Moment moment;
    Arrival missed = kNobody;
  };

  [[nodiscard]] Arrival judge(std::int64_t clock, const Moment& moment) const;

  std::int64_t drift_;
  absl::btree_map<std::int64_t, Stair> stairs_;  // By when they completed.
  absl::btree_map<std::pair<std::int64_t, Arrival>, Invoked> invoked_;
  std::vector<Change> changes_;
  // The latest times at which something that was forgotten was invoked, or completed.
  std::int64_t forgotten_invoked_ = kNoClock;
  std::int64_t forgotten_stair_ = kNoClock;
};

}  // namespace ouro::stream
