// Finds the moments at which a history can be cut in two, by the clocks of the clients: every
// transaction before the cut completed, by more than the clock drift, before any behind it was
// invoked. Then each precedes all of those in every order that keeps real time (docs/scale.md).
//
// Cuts are places between two transactions in the order in which these are recorded. A transaction
// far behind may have been invoked before the cut, so a cut is offered only when so many
// transactions were seen behind it. Should a later one yet contradict a cut that was taken, the
// finder says so.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "ouro/history.h"

namespace ouro::segments {

// A place at which a history can be cut.
struct SegmentCut {
  std::uint64_t end = 0;  // How many transactions are before it.
  // When the last one of them completed; the least number if no clock says so.
  std::int64_t completed = std::numeric_limits<std::int64_t>::min();
};

class CutFinder {
 public:
  // A segment has at least `least` transactions; `ahead` is how many must be seen behind a cut.
  CutFinder(std::int64_t clock_drift, std::uint64_t least, std::uint64_t ahead)
      : drift_(clock_drift), least_(least), ahead_(ahead) {}

  // Takes the next transaction. False if it may have come before one on the other side of a cut
  // that was taken.
  [[nodiscard]] bool add(const History& history, TxnId txn);
  // The first cut behind the one that was taken last, if one is certain enough; at the `end` of the
  // history all are. Takes it.
  [[nodiscard]] std::optional<SegmentCut> next(bool end);

  // Forgets the cuts that were not taken yet.
  void restart() {
    candidates_.clear();
    taken_ = seen_;
  }

  // Whether a transaction that committed keeps all later moments from being cuts: when it completed
  // is not known, and neither that of a later one of its session.
  [[nodiscard]] bool blocked() const { return endless_ || !open_.empty(); }

 private:
  [[nodiscard]] bool precedes(std::int64_t completed, const History& history, TxnId txn) const;

  const std::int64_t drift_;
  const std::uint64_t least_;
  const std::uint64_t ahead_;
  std::uint64_t seen_ = 0;
  std::uint64_t taken_ = 0;  // Where the last cut is.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  std::int64_t taken_completed_ = kNever;
  std::int64_t completed_ = kNever;    // The greatest so far.
  std::deque<SegmentCut> candidates_;  // Behind the last cut; `completed` only grows.
  // Sessions whose last transaction that committed did not say when it completed.
  absl::flat_hash_set<std::string> open_;
  bool endless_ = false;  // There is one without a session.
};

// Whether the transaction may have written something: it did not abort, and has writes.
[[nodiscard]] bool may_write(const History& history, TxnId txn);
// Whether it counts, or may count: it committed, or is unknown and has writes.
[[nodiscard]] bool may_count(const History& history, TxnId txn);

}  // namespace ouro::segments
