// Hard histories of all kinds that we know, as one list, for tests and benchmarks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::bench {

// One instance, by a name that says it all, so that any other instance has a name, too:
//
//   stale-TXNS-KEYS-SEED    random stale reads (frontier.h)
//   blind-TXNS-KEYS-SEED    many writers for each key; of the reads only a few are stale
//   sat-VARIABLES-SEED      random 3-SAT with 4.26 clauses for each variable (formulas.h)
//   colour-NODES-SEED       colourings with three colours of graphs with 2.3 arcs for each node
//
// Nothing if it is no such name.
[[nodiscard]] std::optional<History> hard_history(std::string_view name);

struct HardCase {
  std::string_view name;
  Level level;
};
// Those that are compared with another solver: through the threshold of each level, satisfiable and
// not.
[[nodiscard]] std::span<const HardCase> hard_cases();

}  // namespace ouro::bench
