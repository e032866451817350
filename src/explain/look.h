// Looks for anomalies by name, harder than a report must.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "ouro/check.h"
#include "ouro/expect.h"
#include "ouro/explain.h"

namespace ouro {

struct Looked {
  std::vector<Explanation> more;
  bool cut_short = false;  // A limit was reached, and left open whether there is more.
};

// What else is wrong with `history`, of which `explanations` tell something, if not all anomalies
// that are expected, or expected not to be, are among that: more stories of each level violated,
// and those of weaker levels, of which every violation is one of the stronger, too. Costs checks of
// those levels, by `options` and within `budget`, and as many explanations.
[[nodiscard]] Looked look_for(const Expectation& expectation, const History& history,
                              std::span<const Verdict> verdicts,
                              std::span<const Explanation> explanations,
                              const CheckOptions& options, const Budget& budget);

}  // namespace ouro
