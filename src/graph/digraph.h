// Directed graphs of nodes 0, 1, 2 …, their topological orders and their cycles. Knows no
// transactions.
//
// A function that takes a budget stops when the budget is exhausted, and then returns something
// meaningless. So a caller who set limits asks the budget before using the result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/budget.h"

namespace ouro {

using Node = std::uint32_t;

struct Arc {
  Node from = 0;
  Node to = 0;
  constexpr auto operator<=>(const Arc&) const = default;
};

// A graph that never changes: for each node, the nodes that its arcs lead to. Two arcs between the
// same nodes are kept as two.
class Digraph {
 public:
  // The graph of `arcs`. It does not depend on `threads` (zero: one per core). Cost: linear.
  // REQUIRES: all nodes are below `node_count`.
  Digraph(std::size_t node_count, std::span<const Arc> arcs, unsigned threads = 1,
          const Budget& budget = Budget());

  [[nodiscard]] std::size_t node_count() const { return first_.size() - 1; }
  [[nodiscard]] std::size_t arc_count() const { return first_.back(); }
  // The nodes that arcs from `node` lead to.
  [[nodiscard]] std::span<const Node> out(Node node) const {
    return {to_.get() + first_[node], first_[node + 1] - first_[node]};
  }
  // Fetch into the cache what out(node) looks up; and what it returns, which looks that up.
  void prefetch(Node node) const { __builtin_prefetch(&first_[node]); }
  void prefetch_out(Node node) const { __builtin_prefetch(to_.get() + first_[node]); }
  // The graph with all arcs the other way round. Cost: linear.
  [[nodiscard]] Digraph reversed(unsigned threads = 1, const Budget& budget = Budget()) const;

 private:
  Digraph() = default;
  // Builds the graph of `arcs` arcs. each(part, parts, f) calls f(from, to) for every arc of one of
  // `parts` parts, while the budget lasts. Part 0, part 1 … one after the other must give the arcs
  // in the same order for every number of parts.
  template <class Each>
  void fill(std::size_t nodes, std::size_t arcs, unsigned threads, const Budget& budget,
            const Each& each);

  std::vector<std::uint64_t> first_;  // Where the arcs of a node begin in to_; nodes + 1 entries.
  // By node, where its arcs lead. Not a vector, which would write zeros first: so the memory is
  // touched first, in parallel, by the threads that fill it.
  std::unique_ptr<Node[]> to_;
};

// A topological order: each node before those that its arcs lead to. Of several nodes that could
// come next, the one that is first in `preferred` does. Nodes on cycles, and those that can be
// reached from a cycle, are missing. REQUIRES: `preferred` is a permutation of the nodes.
// Cost: linear.
[[nodiscard]] std::vector<Node> topological_order(const Digraph& graph,
                                                  std::span<const Node> preferred,
                                                  const Budget& budget = Budget());

// The strongly connected components that have a cycle: those of more than one node, and single
// nodes with an arc to themselves. Each is sorted; the components are ordered by size, then by
// their nodes. Cost: linear, and sorting.
[[nodiscard]] std::vector<std::vector<Node>> cyclic_components(const Digraph& graph,
                                                               const Budget& budget = Budget());

// A shortest cycle within `component`: its nodes, in the order of its arcs. Searches from each node
// of the component; if there are more than `exhaustive` of them, only from that many, so that the
// cycle is short but perhaps not shortest. If the budget is exhausted on the way, it returns the
// shortest found so far; empty if none was found.
// REQUIRES: `component` is one of cyclic_components(graph).
// Cost: one breadth-first search of the component for each start.
[[nodiscard]] std::vector<Node> short_cycle(const Digraph& graph, std::span<const Node> component,
                                            const Budget& budget = Budget(),
                                            std::size_t exhaustive = 256);

}  // namespace ouro
