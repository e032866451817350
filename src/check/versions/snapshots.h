// Predicate reads that saw what was committed when their transaction started, or committed.
#pragma once

#include <span>
#include <vector>

#include "check/versions/predicate_reads.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

// A result-set mismatch for every read that did not return what the snapshot, with what its
// transaction wrote before, gives. Cost: as Rows::selected().
[[nodiscard]] std::vector<PredicateFlaw> compare_results(
    const Observed& observed, const RowVersions& rows, SnapshotAt at,
    std::span<const PredicateReads::Seen> reads, const Budget& budget, unsigned threads);

// As PredicateReads::broken(). REQUIRES: `reads` are sorted.
[[nodiscard]] std::vector<PredicateEdge> broken_by_snapshots(
    const Observed& observed, const RowVersions& rows, SnapshotAt at,
    std::span<const PredicateReads::Seen> reads, const Positions& positions, bool overwrites,
    const Budget& budget);

}  // namespace ouro
