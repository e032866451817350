// Checks a verdict of an engine on a small history in every detail.
#pragma once

#include <string>

#include "ouro/check.h"
#include "ouro/history.h"
#include "tests/oracle.h"

namespace ouro::oracle {

// What is wrong with `verdict`, or "" if all of this is true:
//   - it agrees with the oracle;
//   - Holds: its order proves the level;
//   - Violated: there are anomalies, each counted; one of single operations has operations, and
//     is there if and only if the oracle finds one that the level forbids; one that is a cycle
//     has edges that chain, close, and each follow from the history (up to causal; above, ww and
//     rw edges may be choices and are not judged).
//
// `allowed` is what the oracle says about `history`.
[[nodiscard]] std::string complaint(const History& history, const LevelSet& allowed,
                                    const Verdict& verdict);

}  // namespace ouro::oracle
