// What predicate reads depend on, by version orders (Adya).
//
// A predicate read saw one version of every row: those of its version set, or else the last ones
// that were committed at the start, or at the commit, of its transaction. A version changes its
// matches if it matches and the one before does not, or the other way round; or if both match and
// the read is an aggregate of a column in which they differ. The read follows whoever wrote such a
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
#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

class PredicateReads {
 public:
  // The predicate reads of transactions that take part, as far as it is known what they saw: by a
  // version set, or, by their start timestamp, what was committed at the moment `at`. The error is
  // a row whose version order contradicts the timestamps, where some read needs it. If the version
  // order of some row is not complete, it is taken from `order`; without one, partial() is that
  // row, and nothing else is known. An exhausted budget leaves stopped() true and the rest
  // meaningless. REQUIRES: `observed` is by version orders and did not stop.
  static Result<PredicateReads> read(const Observed& observed, SnapshotAt at, const Budget& budget,
                                     unsigned threads, const Positions* order = nullptr);

  [[nodiscard]] SnapshotAt at() const { return at_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // A row without a complete version order; invalid: there is none, or an order was given.
  [[nodiscard]] KeyId partial() const { return partial_; }
  [[nodiscard]] bool empty() const {
    return with_set_.empty() && with_start_.empty() && unplaced_.empty();
  }
  // What is wrong with version sets, and results that are not what the snapshot gives.
  [[nodiscard]] const std::vector<PredicateFlaw>& flaws() const { return flaws_; }
  // Whether some reads have no version set, so that timestamps say what they saw; and whether all
  // of these returned what the moment at() gives.
  [[nodiscard]] bool has_snapshots() const { return !with_start_.empty(); }
  [[nodiscard]] bool snapshots_fit() const { return snapshots_fit_; }

  // The edges that an order does not keep, sorted by reader; those of overwritten reads only with
  // `overwrites`. If there are none and the order keeps the version orders, it keeps all edges.
  // Stops early if the budget is exhausted.
  [[nodiscard]] std::vector<PredicateEdge> broken(const Observed& observed,
                                                  const Positions& positions, bool overwrites,
                                                  const Budget& budget) const;

  // For each row, the edge to the first change that a read did not see, of all reads of which an
  // order puts any such change before their transaction.
  [[nodiscard]] std::vector<PredicateEdge> unseen(const Observed& observed,
                                                  const Positions& positions, const Budget& budget,
                                                  unsigned threads) const;

  // All edges, sorted by reader, but those that follow from others by version orders. If they are
  // more than the budget affords, exhausts it and returns only some.
  [[nodiscard]] std::vector<PredicateEdge> all(const Observed& observed, const Budget& budget,
                                               unsigned threads) const;

  // A select or aggregate.
  struct Seen {
    TxnId txn;
    OpId op;
  };
  // Reads of which the history does not say what they saw (unplaced_reads.h), or of which the
  // version set does not say which of several versions of a row (listed_versions.h); nothing else
  // here but flaws() is about them.
  [[nodiscard]] std::span<const Seen> unplaced() const { return unplaced_; }
  // How many of them have a version set.
  [[nodiscard]] std::size_t unclear_count() const { return unclear_count_; }
  // REQUIRES: !empty().
  [[nodiscard]] const RowVersions& rows() const { return *rows_; }

 private:
  void find_reads(const Observed& observed);
  void add_unclear(std::span<const OpId> unclear);

  std::vector<Seen> with_set_;    // Reads with a version set.
  std::vector<Seen> with_start_;  // Reads without, but with a start timestamp.
  std::vector<Seen> unplaced_;    // Reads without either, or whose version set is unclear.
  std::size_t unclear_count_ = 0;
  // All edges of with_set_, but those that follow from others by version orders.
  std::vector<PredicateEdge> links_;
  std::vector<PredicateFlaw> flaws_;
  SnapshotAt at_ = SnapshotAt::Start;
  bool stopped_ = false;
  KeyId partial_;
  bool snapshots_fit_ = true;
  std::shared_ptr<const RowVersions> rows_;  // Null if there are no reads.
};

}  // namespace ouro
