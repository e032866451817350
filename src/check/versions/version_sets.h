// Predicate reads row by row: what is wrong with version sets, and all edges.
#pragma once

#include <span>
#include <vector>

#include "check/versions/predicate_reads.h"
#include "check/versions/row_versions.h"
#include "check/versions/snapshot_moments.h"

namespace ouro {

struct VersionSetFindings {
  // By reader; for each row that ever matched the last change seen and the first one not seen. Of
  // several edges between two transactions, one of each kind.
  std::vector<PredicateEdge> links;
  std::vector<PredicateFlaw> flaws;
  // The first read that found a row absent which was so more than once; invalid if there is none.
  OpId unclear;
  KeyId unclear_key;
  std::uint64_t looked_at = 0;  // Versions, to find all that.
};

// REQUIRES: `reads` are sorted; those without a version set have a start timestamp, and version
// orders agree with commit timestamps.
[[nodiscard]] VersionSetFindings judge_version_sets(const Observed& observed,
                                                    const RowVersions& rows, SnapshotAt at,
                                                    std::span<const PredicateReads::Seen> reads,
                                                    const Budget& budget, unsigned threads);

}  // namespace ouro
