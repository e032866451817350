// Decides levels of histories with open reads: reads that may have returned more than one version.
//
// Several transactions may have left the value that a read returned; and a compare-and-set that
// failed read something else than it expected, and the history does not say what. A level holds if
// it does for some choice of what each such read returned. So:
//
//   1. Decide the level without the open reads. If it is violated, so it is with them.
//   2. Otherwise guess what each of them returned: the latest version that fits and that the order
//      found in step 1 puts before the read. Decide again, with these as ordinary reads. If the
//      level holds, we are done. Where the level takes no search, other guesses are tried, too: one
//      by which transactions know of little (careful_guess.h), and then changes of what refuted it
//      (guess_repair.h).
//   3. Otherwise take one open read, and try all that it may have returned, one after the other,
//      each as in step 1: with what was said of this read, and with the others open. An answer that
//      alone contradicts the level drops out; so the read that has the fewest left is taken.
//
// Nothing here depends on the level, nor on why a read is open, but only on which versions it may
// have returned (Observed::candidates()). It is the same with elements of lists that several
// transactions may have appended (open_elements.h): first the likely order of commits is taken for
// a guess; if the guess fails, a read that the failure rests on is tried first. Rows of counters
// are open reads whose sum is known (counter_sums.h); a case in which they cannot add up is
// refuted. Where the level is decided by a search, that can find out itself what most of them
// returned (check/polygraph/source_choices.h), and only the others are left to this.
#pragma once

#include <functional>
#include <optional>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// Decides a level, leaving out the reads that are open in its argument; or, if it searches, only
// those that are not among its searched_reads().
using DecideWithout = std::function<Verdict(Observed&)>;

// Decides a level with its open reads, by calling `decide` for one way after the other to say what
// they returned. Undecided also after kMostDecisions, or more if the history is small; then
// `reason` says so and names a read.
// Cost: that of `decide`, and of Observed::observe(), for each decision.
[[nodiscard]] Verdict decide_open_reads(Observed& observed, const DecideWithout& decide,
                                        bool searches, const Budget& budget,
                                        const CheckOptions& options);

// Steps 1 and 2 only, for a level that takes no search: nothing if they do not decide it.
[[nodiscard]] std::optional<Verdict> guess_open_reads(Observed& observed,
                                                      const DecideWithout& decide,
                                                      const Budget& budget,
                                                      const CheckOptions& options);

// Whether the open reads can be decided as cases in a moment.
[[nodiscard]] bool has_few_cases(const Observed& observed);

inline constexpr std::size_t kMostDecisions = 1000;

}  // namespace ouro
