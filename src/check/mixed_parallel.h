// Mixtures with parallel-si that hold if all its transactions are at causal: whether some order
// also keeps their own rule, which is about whom they overwrote.
//
// In the order at hand, a reader missed a version of somebody it knew of, because some writers of
// keys are in the order in which they are. So one of these pairs must be the other way round. Each
// is tried in turn, and so on in what is found then. If no way is left, that is a proof: a tree of
// such cases, each of which closes a cycle.
#pragma once

#include <functional>
#include <span>

#include "base/budget.h"
#include "check/mixed_knowledge.h"
#include "ouro/check.h"

namespace ouro {

// Decides the mixture with causal in place of parallel-si and these edges between commits besides.
using DecideWith = std::function<Verdict(std::span<const Edge>)>;

// Undecided with a reason: too many ways were tried. Without: the budget is exhausted.
[[nodiscard]] Verdict decide_parallel(const Observed& observed, MixedKnowledge& knowledge,
                                      const DecideWith& decide, const Budget& budget);

}  // namespace ouro
