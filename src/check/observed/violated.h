// Verdicts that a cycle, or all cases, refute.
#pragma once

#include <vector>

#include "ouro/check.h"

namespace ouro {

// Adds an anomaly with these edges, and with the transactions that they lead from, but the initial
// one. The verdict is violated then.
void add_cycle(Verdict& verdict, AnomalyKind kind, std::vector<Edge> edges);

// The verdict of a level that is violated in each of these cases. Its anomaly has all reads that
// they are about, and the edges of the first case that has some.
[[nodiscard]] Verdict violated_in_all(const History& history, Level level,
                                      std::vector<SourceCase> cases);

}  // namespace ouro
