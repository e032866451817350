// A second opinion on the oracle: runs the transactions of a small history on an imagined
// multi-version store in every possible interleaving of begins and commits.
#pragma once

#include "ouro/history.h"
#include "ouro/level.h"
#include "tests/oracle.h"

namespace ouro::oracle {

// Whether the level can be defined by what such a store does.
[[nodiscard]] bool is_replayable(Level level);

// Whether some interleaving that `level` permits returns what the history's reads returned.
// REQUIRES: is_replayable(level).
[[nodiscard]] bool replays(const History& history, Level level, const OracleOptions& options = {});

}  // namespace ouro::oracle
