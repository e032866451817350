// Looks at every level that is violated for a story smaller than the one at hand.
//
// explain() looks at one level, and what it happens to find there may be larger than what violates
// another level. Whatever violates a weaker level also violates the stronger one. And of a level
// that is neither weaker nor stronger the story may do so, too, which is then checked.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/budget.h"
#include "ouro/check.h"
#include "ouro/explain.h"

namespace ouro {

// Puts the smallest story of all violated levels first in each of `explanations` from the `first`
// on, and among equals the worst. What is left of the other stories has nothing to do with it: they
// share no transaction. `verdicts` say which levels are violated; `how` and `telling` are the
// options for further checks and explanations, which `budget` limits.
//
// Of a history of more than 2,000 operations, a story of up to three transactions is good enough,
// and of levels that imply each other only the weakest is tried.
void tell_smallest(const History& history, std::span<const Verdict> verdicts,
                   const CheckOptions& how, const ExplainOptions& telling, const Budget& budget,
                   std::vector<Explanation>& explanations, std::size_t first = 0);

}  // namespace ouro
