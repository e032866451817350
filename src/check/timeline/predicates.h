// Replays scans, selects and aggregates: each against the rows that its transaction should have
// seen, which are those of its snapshot and what it wrote itself before (Enne).
#pragma once

#include "base/budget.h"
#include "check/timeline/replay.h"
#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

// Adds a result-set mismatch for every predicate read that did not return what it should have.
// Lists are no rows. Stops early if the budget is exhausted.
// Cost: Rows::selected() for each, at worst a look at every row.
void replay_predicates(const History& history, const Timeline& timeline, const ListKeys& lists,
                       unsigned threads, const Budget& budget, Violations& violations);

}  // namespace ouro
