// Whether the timeline keeps the order of sessions and of real time.
#pragma once

#include <cstdint>

#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

// Adds a violation for every transaction that begins before all those are committed that precede it
// in its session. The example names the last of them to commit.
void check_sessions(const History& history, const Timeline& timeline, Violations& violations);

// The same for those that had completed, by the clients' clocks and by more than `clock_drift`,
// when it was invoked. With `commit_to_commit` it is its commit that must not come first.
void check_real_time(const History& history, const Timeline& timeline, bool commit_to_commit,
                     std::int64_t clock_drift, Violations& violations);

}  // namespace ouro
