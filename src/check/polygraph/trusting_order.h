// A guess of the order that believes what was recorded.
//
// If transactions committed in the order in which they were recorded, then the versions of each key
// were written in that order, too. So whoever read a version precedes whoever wrote the next one,
// even if it was recorded later: at SER levels the whole transaction, at the levels of snapshots
// its begin. Where that, and what is known, closes no cycle, the guess is a solution.
//
// Nodes are placed in the recorded order, each right behind those that must precede it and are not
// placed yet. So whatever was recorded too late comes sooner, and the rest stays where it was. Had
// the others to wait for it instead, they and all that depends on them would move far behind.
#pragma once

#include <span>
#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/digraph.h"

namespace ouro {

// All nodes in that order. Where the guess closes cycles, the order breaks some arcs, perhaps even
// of `back`; topological_order() mends that. Something meaningless once the budget is exhausted.
// REQUIRES: `back` is the reverse of the known arcs, `recorded` a permutation of all nodes.
// Cost: linear, and sorting the chains of each key.
[[nodiscard]] std::vector<Node> trusting_order(const Encoding& encoding, const Digraph& back,
                                               std::span<const Node> recorded,
                                               const Budget& budget);

}  // namespace ouro
