// Examples of violations as anomalies, with all the transactions and operations they involve.
#pragma once

#include <vector>

#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/check.h"

namespace ouro {

// The violations as anomalies, at most `examples` of each kind. Finds out with which transactions a
// write conflicts, and which one wrote what a wrong read returned.
// Cost: one pass over the history if there is anything to find out.
[[nodiscard]] std::vector<Anomaly> anomalies_of(const History& history, const Timeline& timeline,
                                                std::vector<Violation> violations,
                                                std::size_t examples);

}  // namespace ouro
