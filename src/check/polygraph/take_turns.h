// Several ways to answer a question, of which nobody knows which is the quickest one.
//
// They take turns, each with four times the work of its turn before, until one of them answers. So
// the answer takes no more than a few times the work of the quickest one. Turns are counted in
// work, not in time, so that the same one answers on every machine.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "ouro/check.h"

namespace ouro {

// What a way that is asked found out within the budget that it was given.
struct Turn {
  std::optional<Verdict> verdict;  // The answer, if there is one.
  bool useless = false;            // Whether another turn would bring no answer either.
};
using Way = std::function<Turn(const Budget&)>;

// Asks `ways`, in their order, each with `steps` of work at first, and then the `last` one, whose
// verdict is undecided only if its budget is exhausted, or for a reason that it states and that no
// budget helps against. Undecided if `budget` is exhausted.
[[nodiscard]] inline Verdict take_turns(const Budget& budget, Steps steps, std::vector<Way> ways,
                                        const std::function<Verdict(const Budget&)>& last) {
  for (;; steps.count *= 4) {
    for (Way& way : ways) {
      Turn turn = way(Budget(budget, steps));
      if (turn.verdict) return *std::move(turn.verdict);
      if (turn.useless) way = nullptr;
      if (budget.exhausted()) return last(budget);
    }
    std::erase(ways, nullptr);
    if (ways.empty()) return last(budget);
    Verdict verdict = last(Budget(budget, steps));
    if (verdict.outcome != Outcome::Undecided || !verdict.reason.empty()) return verdict;
    if (budget.exhausted()) return verdict;
  }
}

}  // namespace ouro
