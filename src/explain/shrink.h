// Delta debugging: drops transactions, keys and operations of a history as long as a question about
// the rest ("is the level still violated?") is answered with yes.
#pragma once

#include <functional>

#include "base/budget.h"
#include "explain/excerpt.h"

namespace ouro {

using Question = std::function<bool(const History&)>;

struct Shrunk {
  Excerpt part;
  bool minimal = false;  // Whether the answer is no without any one of what is left.
};

// The smallest part that was found for which the answer is yes. When the budget is exhausted,
// returns what was found by then. `evidence` says what parts are; see excerpt(). REQUIRES: the
// answer for `history` itself is yes. Cost: O(k log n) questions if k of n transactions and
// operations are left, and the answer for whatever contains a part with yes is yes.
[[nodiscard]] Shrunk shrink(const History& history, Evidence evidence, const Question& question,
                            const Budget& budget);

// Drops whole transactions only: those that are left keep their operations.
[[nodiscard]] Shrunk shrink_txns(const History& history, Evidence evidence,
                                 const Question& question, const Budget& budget);

}  // namespace ouro
