// Decides levels of histories with open reads: reads that say only what they did not return.
//
// A compare-and-set that failed read something else than it expected, nobody knows what. A level
// holds if it does for some choice of what each such read returned. So:
//
//   1. Decide the level without them. If that is violated already, so it is with them.
//   2. Otherwise look where the order that was found has each of them, and take for what it
//   returned
//      the latest version before it that fits. Decide again, with these as ordinary reads: if that
//      holds, we are done.
//   3. Otherwise take one of them, and try all that it may have returned, one after the other, each
//      as in 1. What is said of one read stays said while the others are looked for.
//
// So nothing here depends on the level, nor on why a read is open: only on which versions it may
// have returned (Observed::candidates).
#pragma once

#include <functional>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// Decides a level for what was observed, with open reads left out.
using DecideWithout = std::function<Verdict(Observed&)>;

// The verdict with them. Undecided also if too many decisions were made; then `reason` says so.
// Cost: that of `decide`, and of Observed::observe(), for each decision; at most kMostDecisions.
[[nodiscard]] Verdict decide_open_reads(Observed& observed, const DecideWithout& decide,
                                        const Budget& budget, const CheckOptions& options);

inline constexpr std::size_t kMostDecisions = 1000;

}  // namespace ouro
