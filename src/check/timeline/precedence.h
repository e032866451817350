// Whether the timeline keeps the order of sessions and of real time.
#pragma once

#include <cstdint>

#include "check/timeline/timeline.h"
#include "check/timeline/violations.h"
#include "ouro/history.h"

namespace ouro {

// Adds a violation for every transaction that begins before an earlier one of its session has
// committed. The example names the last of these to commit.
void check_sessions(const History& history, const Timeline& timeline, Violations& violations);

// Adds a violation for every transaction that begins before one has committed that had completed,
// by the clients' clocks and by more than `clock_drift`, when it was invoked. With
// `commit_to_commit` it is violated only if it also commits before that one. The example names the
// last of these to commit.
void check_real_time(const History& history, const Timeline& timeline, bool commit_to_commit,
                     std::int64_t clock_drift, Violations& violations);

}  // namespace ouro
