// Finds the shortest cycle of edges that a level forbids; of several as short, the one of the worst
// anomaly.
#pragma once

#include <span>
#include <vector>

#include "explain/facts.h"

namespace ouro {

struct Cycle {
  std::vector<Fact> edges;  // Empty: there is none.
  std::uint64_t cost = 0;   // Of two cycles the one with the smaller cost should be told.

  [[nodiscard]] bool found() const { return !edges.empty(); }
  [[nodiscard]] Premises premises() const;
};

// The transactions of the edges are 0 to `txns` - 1. Cost: a search of shortest paths from each.
// REQUIRES: `level` is above causal.
[[nodiscard]] Cycle shortest_cycle(std::span<const Fact> edges, std::size_t txns, Level level);

}  // namespace ouro
