// A guess at the order in which transactions committed.
#pragma once

#include <vector>

#include "graph/digraph.h"
#include "ouro/history.h"

namespace ouro {

// All transactions: by commit timestamps or client clocks where every transaction has them, else in
// the order of the source if that changes between sessions, else as if sessions ran at even speed
// side by side. Some other order once the budget is exhausted.
[[nodiscard]] std::vector<Node> likely_commit_order(const History& history,
                                                    const Budget& budget = Budget());
// Whether it is only the last of these.
[[nodiscard]] bool order_is_vague(const History& history);

}  // namespace ouro
