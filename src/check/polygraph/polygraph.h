// Decides the strong levels from reads and writes alone.
//
// The history becomes a graph of known arcs and open choices (encoding.h). If the known arcs have a
// cycle, the level is violated. Otherwise a topological order of them is the first guess, which a
// search (search.h) and the solver mend until it keeps a side of every choice, or no order can.
//
// Session order guides a search: it contradicts most wrong guesses at once. So a level that ignores
// sessions is first decided as if it did not. If there is such an order, the level holds; if not,
// the level is decided without sessions.
#pragma once

#include "check/observed/mixture.h"
#include "check/observed/observed.h"
#include "check/polygraph/encoding.h"
#include "check/polygraph/take_turns.h"
#include "ouro/check.h"

namespace ouro {

// Checks `level`: any but those of LevelFamily::CommitOrder and LevelFamily::Mixed.
// REQUIRES: no wrong read of `observed` violates the level. Levels of LevelFamily::Parallel cannot
// search for anything else, nor levels that allow phantoms for results. All other open reads, and
// all keys that predicate reads do not tell of, are left out.
[[nodiscard]] Verdict check_polygraph(const Observed& observed, Level level, const Budget& budget,
                                      const CheckOptions& options, SearchFor open = {});

// Whether there is one commit order in which every transaction satisfies the level that `mixture`
// gives it, as far as the edges that it forces say so.
// REQUIRES: no wrong read of `observed` violates the level of its transaction.
[[nodiscard]] Verdict check_mixture(const Observed& observed, const Mixture& mixture,
                                    const Budget& budget, const CheckOptions& options);

// How much work the first turn has (take_turns.h) if another level, or an assumption, is to answer
// for a level: enough for histories that are not hard.
[[nodiscard]] Steps first_turn(const Observed& observed, const SearchOptions& options);

}  // namespace ouro
