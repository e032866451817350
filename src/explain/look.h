// Looks for anomalies that are expected by name, with more effort than a report makes.
#pragma once

#include <span>
#include <vector>

#include "ouro/check.h"
#include "ouro/expect.h"
#include "ouro/explain.h"

namespace ouro {

// Explanations of `history` beyond `explanations`, until all anomalies that the expectation names
// (to be shown, or to be lacking) are among them or nothing is left to try: more stories of each
// level violated, and stories of weaker levels, whose violations violate the stronger ones, too.
// Cost: a check of each of those levels, by `options`, and as many explanations.
[[nodiscard]] std::vector<Explanation> look_for(const Expectation& expectation,
                                                const History& history,
                                                std::span<const Verdict> verdicts,
                                                std::span<const Explanation> explanations,
                                                const CheckOptions& options);

}  // namespace ouro
