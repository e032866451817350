// Judges predicate reads without version sets, which saw what was committed at the start, or at the
// commit, of their transaction.
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

// As PredicateReads::broken(), for `reads`. REQUIRES: they are sorted by transaction.
[[nodiscard]] std::vector<PredicateEdge> broken_by_snapshots(
    const Observed& observed, const RowVersions& rows, SnapshotAt at,
    std::span<const PredicateReads::Seen> reads, const Positions& positions, bool overwrites,
    const Budget& budget);

}  // namespace ouro
