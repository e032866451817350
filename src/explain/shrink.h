// Delta debugging: drops transactions, keys and operations of a history as long as a question about
// the rest is answered with yes.
#pragma once

#include <functional>

#include "base/budget.h"
#include "explain/excerpt.h"

namespace ouro {

using Question = std::function<bool(const History&)>;

struct Shrunk {
  Excerpt part;
  bool minimal = false;  // Whether every single transaction and operation was tried in vain.
};

// REQUIRES: the answer for `history` itself is yes. Asks O(k log n) times if yes for a part means
// yes for all that contain it, and k transactions and operations of n are left; the budget ends it
// with what was found by then. `evidence` says what parts are; see excerpt().
[[nodiscard]] Shrunk shrink(const History& history, Evidence evidence, const Question& question,
                            const Budget& budget);

// The same of whole transactions only: those that are left keep their operations.
[[nodiscard]] Shrunk shrink_txns(const History& history, Evidence evidence,
                                 const Question& question, const Budget& budget);

}  // namespace ouro
