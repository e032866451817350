// Decides rc, ra and cc: what each level's rule forces on the commit order, and whether a commit
// order is left.
//
// All three are of one form (Biswas and Enea): if T3 reads x from T1 and saw another writer T2 of
// x, then T2 commits before T1. The levels differ in what "saw" means, and none of them mentions
// the commit order, so one round of inference decides. How to find few enough pairs (T2, T1) is
// AWDIT's insight (PLDI 2025): read_committed.cc, read_atomic.cc, causal.cc. Before that, guess.h
// finds that most histories need none.
#pragma once

#include <vector>

#include "base/level_rules.h"
#include "check/observed/observed.h"
#include "check/weak/commit_graph.h"
#include "check/weak/guess.h"

namespace ouro {

// infer_…() return edges that the level forces. With a guess, only those that go against it: if
// there are none, its order is a commit order that the level allows. Without a guess (null), so
// many that all others follow from them. The result is incomplete once the budget is exhausted.

// "Saw": an earlier read of T3 returned a write of T2. O(n^1.5).
[[nodiscard]] std::vector<ForcedEdge> infer_read_committed(const Observed& observed,
                                                           const Guess* guess,
                                                           const Budget& budget);
// "Saw": T3 read from T2, or T2 is earlier in T3's session. O(n^1.5).
[[nodiscard]] std::vector<ForcedEdge> infer_read_atomic(const Observed& observed,
                                                        const Guess* guess, const Budget& budget);
// "Saw": there is a path of reads-from and session order from T2 to T3. O(n · sessions) time, O(n)
// memory per thread.
[[nodiscard]] std::vector<ForcedEdge> infer_causal(const Observed& observed, const Guess& guess,
                                                   const Budget& budget, unsigned threads);

// What a violation of a level with this rule is called.
[[nodiscard]] AnomalyKind kind_at(Premise premise);

// Checks `level` (rc, ra or cc). REQUIRES: no wrong read of `observed` violates the level.
[[nodiscard]] Verdict check_weak(const Observed& observed, Level level, const Budget& budget,
                                 const CheckOptions& options);

}  // namespace ouro
