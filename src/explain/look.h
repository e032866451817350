// Looks for anomalies that are expected by name, with more effort than a report makes.
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

// Explanations of `history` beyond `explanations`, until all anomalies that the expectation names
// (to be shown, or to be lacking) are among them or nothing is left to try: more stories of each
// level violated, and stories of weaker levels, whose violations violate the stronger ones, too.
// Cost: a check of each of those levels, by `options` and within `budget`, and as many
// explanations.
[[nodiscard]] Looked look_for(const Expectation& expectation, const History& history,
                              std::span<const Verdict> verdicts,
                              std::span<const Explanation> explanations,
                              const CheckOptions& options, const Budget& budget);

}  // namespace ouro
