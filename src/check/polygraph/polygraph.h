// Decides the strong levels from reads and writes alone.
#pragma once

#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// Checks `level`: any but those of LevelFamily::CommitOrder.
// REQUIRES: no finding of `observed` violates the level.
[[nodiscard]] Verdict check_polygraph(const Observed& observed, Level level, const Budget& budget,
                                      const CheckOptions& options);

}  // namespace ouro
