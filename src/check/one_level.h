// Decides one level by what was observed.
#pragma once

#include <string>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/predicate_reads.h"
#include "ouro/check.h"

namespace ouro {

// Decides `level` by the engine of its family. Predicate reads are added on demand: the level is
// decided with more and more of the edges that they ask for, until its order keeps them all.
// Open reads (open_reads.h) are given sources for which it holds, if there are any.
[[nodiscard]] Verdict decide_level(Observed& observed, const PredicateReads& predicates,
                                   Level level, const Budget& budget, const CheckOptions& options);

// What the predicate reads saw, if they saw the database at the moment `at`; none unless the
// evidence is version orders, the only one by which they are judged here.
[[nodiscard]] Result<PredicateReads> read_predicates(const Observed& observed, SnapshotAt at,
                                                     const Budget& budget,
                                                     const CheckOptions& options);

// What a verdict that holds says about a weaker level: the order is the same. Where the weaker
// level has begins and the stronger one does not, everybody begins just before committing.
// REQUIRES: `stronger` holds, and its level implies `level`.
[[nodiscard]] Verdict weakened(const Verdict& stronger, Level level);

// Why a check ended without an answer. REQUIRES: the budget is exhausted.
[[nodiscard]] std::string stop_reason(const Budget& budget, const CheckOptions& options);

}  // namespace ouro
