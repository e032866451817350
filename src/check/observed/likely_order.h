// A guess at the order in which transactions committed.
#pragma once

#include <vector>

#include "graph/digraph.h"
#include "ouro/history.h"

namespace ouro {

// All transactions in the order in which they probably committed: by commit timestamps or client
// clocks if every transaction has them; else as they are in the source, if that changes from
// session to session; else as if all sessions had run side by side, each at even speed. Some other
// order once the budget is exhausted.
[[nodiscard]] std::vector<Node> likely_commit_order(const History& history,
                                                    const Budget& budget = Budget());
// Whether likely_commit_order() can only take sessions to run at even speed.
[[nodiscard]] bool order_is_vague(const History& history);

}  // namespace ouro
