// By observation: keys of which predicate reads do not tell what they saw (ReadKey).
//
// Every predicate read saw one version of every key. There may be many keys, so they are not all
// looked at. Where a level has an order, the search sees to it that selects and aggregates fit
// (check/polygraph/result_choices.h). Otherwise, and for scans, a level is decided without the keys
// first, and in the order that was found the predicate reads are then replayed. If each gives what
// was recorded, the level holds. If not, the keys that do not fit become open reads, and the level
// is decided again. Adding reads only adds conditions, so a level that is violated with some of
// them is violated.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "check/versions/row_versions.h"
#include "ouro/check.h"

namespace ouro {

// Decides the level by all reads that `observed` has, open ones included; and, with `results`, by
// what selects and aggregates returned, whatever they saw of keys that they do not tell of.
using DecideReads =
    std::function<Verdict(Observed& observed, Level level, bool results, const Budget& budget)>;

// REQUIRES: by observation.
// Cost: that of `decide` and of a replay of the predicate reads, for each time that keys are added.
[[nodiscard]] Verdict decide_untold(Observed& observed, Level level, const DecideReads& decide,
                                    const Budget& budget, const CheckOptions& options);

// Decides the level with one guess of which unknown transactions took effect (outcomes.h). Nothing
// if none is open, or if that gives no order, which proves nothing.
// REQUIRES: by observation; `decide` searches for what open reads returned where that can be.
[[nodiscard]] std::optional<Verdict> decide_by_outcomes(Observed& observed, Level level,
                                                        const DecideReads& decide,
                                                        const Budget& budget,
                                                        const CheckOptions& options);

}  // namespace ouro
