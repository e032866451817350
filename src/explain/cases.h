// Why a small history violates a level above causal, case by case.
#pragma once

#include <optional>
#include <vector>

#include "base/budget.h"
#include "explain/facts.h"

namespace ouro {

// Cases, each with assumptions about the order of writes and the cycle that follows from them.
// Together they cover every order of the writes, so the level is violated. Few cases with short
// cycles are preferred. Nothing if it would take too many, or if the level holds. REQUIRES: as for
// Facts.
[[nodiscard]] std::optional<std::vector<Case>> tell_cases(const Observed& observed, Level level,
                                                          std::int64_t clock_drift,
                                                          const Budget& budget);

// Rotates a cycle so that it reads well: an edge for an overwritten read, which is the surprise,
// comes last.
[[nodiscard]] std::vector<Edge> rotated(std::vector<Edge> cycle);

}  // namespace ouro
