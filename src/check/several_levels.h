// Decides several levels of one history, and as few of them as possible: what one level says may
// answer for others.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/predicate_reads.h"
#include "ouro/check.h"

namespace ouro {

// A verdict for each of `levels`, in their order. With CheckOptions::outcomes_only verdicts have an
// outcome and no proof. Those that are left undecided have a `reason`.
[[nodiscard]] std::vector<Verdict> decide_levels(Observed& observed,
                                                 const PredicateReads& predicates,
                                                 std::span<const Level> levels,
                                                 const Budget& budget, const CheckOptions& options);

}  // namespace ouro
