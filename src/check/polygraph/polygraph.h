// Decides the strong levels from reads and writes alone.
//
// The history becomes a graph of known arcs and open choices (encoding.h). If the known arcs have a
// cycle, the level is violated. Otherwise a topological order of them is the first guess, which a
// search (search.h) and the solver mend until it keeps a side of every choice, or no order can.
#pragma once

#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// Checks `level`: any but those of LevelFamily::CommitOrder.
// REQUIRES: no wrong read of `observed` violates the level. With `sources`, which levels of
// LevelFamily::Parallel cannot have, it is found out what the searched reads returned; all other
// open reads are left out.
[[nodiscard]] Verdict check_polygraph(const Observed& observed, Level level, const Budget& budget,
                                      const CheckOptions& options, bool sources = false);

}  // namespace ouro
