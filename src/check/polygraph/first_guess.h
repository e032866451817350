// What a search begins with: the known arcs, and a first guess of the order.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "check/polygraph/encoding.h"
#include "graph/digraph.h"
#include "ouro/check.h"

namespace ouro {

// The known arcs, and the order of them that the search begins with. If it has fewer nodes than
// the graph, the arcs are cyclic.
struct Start {
  Digraph known;
  std::optional<Digraph> back;  // The reverse of `known`, if it was needed.
  std::vector<Node> order;

  [[nodiscard]] bool cyclic() const { return order.size() < known.node_count(); }
};

// Begins with the order that the source suggests: played through if values repeat, improved
// otherwise. If the budget is exhausted, the result is meaningless.
[[nodiscard]] Start begin_with(Digraph known, const Encoding& encoding, const CheckOptions& options,
                               const Budget& budget);

}  // namespace ouro
