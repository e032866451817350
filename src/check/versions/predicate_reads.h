// What predicate reads depend on, by version orders (Adya).
//
// A predicate read saw one version of every row: those of its version set, or else the last ones
// committed when its transaction started, or committed. A version changes its matches if it matches
// and the one before does not, or the other way round. The read follows whoever wrote such a
// version up to the one it saw, and precedes whoever wrote one after that.
//
// These are far too many edges to write down: two for every read and row that ever matched. So
// levels are decided without them at first, and broken() says which of them the order that was
// found does not keep. Those are added, and the level is decided again, until the order keeps all
// or none is left. For reads without a version set that costs a look at whoever committed between
// where the transaction's snapshot is and where the order has it: few, if the order is about that
// of the commits. Parallel SI asks who reaches whom, not for an order, and needs all().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/points.h"

namespace ouro {

class RowVersions;

// Where transactions begin and commit in some order.
struct Positions {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> commit;  // The same where a transaction is one point.
};

class PredicateReads {
 public:
  // Those of transactions that count and whose snapshot is known. The error is a row without a
  // complete version order, or with one that contradicts the timestamps, where some read needs it;
  // or one of which it is unclear when it was absent. They saw what was committed `at` that
  // moment. An exhausted budget leaves stopped() true and the rest meaningless.
  // REQUIRES: `observed` is by version orders and did not stop.
  static Result<PredicateReads> read(const Observed& observed, SnapshotAt at, const Budget& budget,
                                     unsigned threads);

  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool empty() const { return with_set_.empty() && with_start_.empty(); }
  [[nodiscard]] const std::vector<PredicateFlaw>& flaws() const { return flaws_; }
  // Whether timestamps say what some of them saw; and whether that gives what all of these
  // returned.
  [[nodiscard]] bool has_snapshots() const { return !with_start_.empty(); }
  [[nodiscard]] bool snapshots_fit() const { return snapshots_fit_; }

  // The edges that an order does not keep, by reader; of overwritten reads only if asked. An order
  // that keeps the version orders and all these edges keeps all there are.
  // Stops early if the budget is exhausted.
  [[nodiscard]] std::vector<PredicateEdge> broken(const Observed& observed,
                                                  const Positions& positions, bool overwrites,
                                                  const Budget& budget) const;

  // All edges, but that version orders imply.
  [[nodiscard]] std::vector<PredicateEdge> all(const Observed& observed, const Budget& budget,
                                               unsigned threads) const;

  // A select or aggregate.
  struct Seen {
    TxnId txn;
    OpId op;
  };

 private:
  void find_reads(const Observed& observed);

  std::vector<Seen> with_set_;    // Have a version set.
  std::vector<Seen> with_start_;  // Have none, but a start timestamp.
  std::vector<PredicateEdge>
      links_;  // Of the former: all there are, but that version orders imply.
  std::vector<PredicateFlaw> flaws_;
  SnapshotAt at_ = SnapshotAt::Start;
  bool stopped_ = false;
  bool snapshots_fit_ = true;
  std::shared_ptr<const RowVersions> rows_;  // If there are any reads.
};

}  // namespace ouro
