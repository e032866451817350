// The shortest cycle of edges that a level forbids; of equal ones that of the worst anomaly.
#pragma once

#include <span>
#include <vector>

#include "explain/facts.h"

namespace ouro {

struct Cycle {
  std::vector<Fact> edges;  // Empty: there is none.
  std::uint64_t cost = 0;   // Of two cycles the one with the smaller cost is to be told.

  [[nodiscard]] bool found() const { return !edges.empty(); }
  [[nodiscard]] Premises premises() const;
};

// REQUIRES: `level` is above causal.
[[nodiscard]] Cycle shortest_cycle(std::span<const Fact> edges, std::size_t txns, Level level);

}  // namespace ouro
