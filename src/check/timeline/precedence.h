// Whether the timeline keeps the order of sessions and of real time.
#pragma once

#include <cstdint>

#include "base/level_rules.h"
#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

// Adds a violation for every transaction that begins before an earlier one of its session has
// committed. The example names the last of these to commit.
void check_sessions(const History& history, const Timeline& timeline, Violations& violations);

// Adds a violation for every transaction whose place on the timeline contradicts the clients'
// clocks, by more than `clock_drift`. What that means depends on the level (docs/levels.md, "When
// transactions begin and commit"). The transaction must begin after the commits that were answered
// before it was invoked. At the levels of snapshots it must commit after the begins and commits
// that were answered before it asked for its commit, if it wrote something; otherwise it has no
// commit of its own on the timeline. Where rules.time_to_commit(), only the latter is asked.
void check_real_time(const History& history, const Timeline& timeline, const LevelRules& rules,
                     std::int64_t clock_drift, Violations& violations);

}  // namespace ouro
