// Judges predicate reads row by row: what is wrong with their version sets, and all their edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/versions/predicate_reads.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

// Which edges of predicate reads are kept: enough to order transactions, or those of every row.
enum class EdgesKept : std::uint8_t { OfTxns, OfRows };

struct VersionSetFindings {
  // Sorted by reader. For each row that ever matched, an edge from the writer of the last change
  // that the read saw, and one to that of the first change that it did not see; a change is a
  // version that is something else to the read than the one before (RowVersions::Part). With
  // EdgesKept::OfTxns, of several edges between two transactions one of each kind.
  std::vector<PredicateEdge> links;
  std::vector<PredicateFlaw> flaws;
  // The reads, sorted, whose version set does not say which of several versions of a row they saw
  // (listed_versions.h). They have no links.
  std::vector<OpId> unclear;
  std::uint64_t looked_at = 0;  // How many versions were looked at.
};

// REQUIRES: `reads` are sorted; those without a version set have a start timestamp, and version
// orders agree with commit timestamps.
[[nodiscard]] VersionSetFindings judge_version_sets(const Observed& observed,
                                                    const RowVersions& rows, SnapshotAt at,
                                                    std::span<const PredicateReads::Seen> reads,
                                                    const Budget& budget, unsigned threads,
                                                    EdgesKept kept = EdgesKept::OfTxns);

}  // namespace ouro
