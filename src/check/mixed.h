// Level::Mixed: each transaction by the level that it states, all in one commit order.
//
// The order must keep reads-from, and session order and real time where the level of either side
// asks for it; and each transaction must satisfy the rule of its own level for its own reads
// (docs/levels.md, "Mixed levels"). So what is wrong with the order depends on the reader alone:
//
//   - if all levels are the same, that one is decided, and if a level that implies all of them
//     holds, so does the mixture: decide_alike();
//   - otherwise one search (check/polygraph/) orders the transactions. It knows no rule of those at
//     rc, ra and cc. In the order that it finds, their rules may force edges that run backward.
//     These are added, and the search is repeated, until there are none: check_mixed().
//
// Transactions at parallel-si are first taken to be at session-si, which implies it; if that fails,
// at causal, which it implies. If that holds, its order says what they knew of; where one of them
// missed something, other orders are tried: decide_parallel().
#pragma once

#include <functional>
#include <optional>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// Answers by a decision of one level for all transactions; nothing if that gives no answer.
[[nodiscard]] std::optional<Verdict> decide_alike(const History& history,
                                                  const std::function<Verdict(Level)>& decide);

// REQUIRES: no wrong read of `observed` violates the level of its transaction. Open reads are left
// out.
// Cost: a search for every time that edges are added; to find them takes, for each transaction at
// causal, as long as its past.
[[nodiscard]] Verdict check_mixed(const Observed& observed, const Budget& budget,
                                  const CheckOptions& options);

}  // namespace ouro
