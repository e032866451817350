// Why a small history violates a level above causal, case by case.
#pragma once

#include <optional>
#include <vector>

#include "base/budget.h"
#include "explain/facts.h"

namespace ouro {

// Cases that leave out no order of the writes, each with its contradiction; few and short ones are
// preferred. Nothing if it would take too many. REQUIRES: as for Facts.
[[nodiscard]] std::optional<std::vector<Case>> tell_cases(const Observed& observed, Level level,
                                                          std::int64_t clock_drift,
                                                          const Budget& budget);

// A cycle so that it reads well: the overwritten read, which is what surprises, comes last.
[[nodiscard]] std::vector<Edge> rotated(std::vector<Edge> cycle);

// Notes which cases are earlier ones with two transactions exchanged.
void find_mirrors(std::vector<Case>& cases);

}  // namespace ouro
