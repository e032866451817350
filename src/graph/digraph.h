// Directed graphs of dense nodes, their topological orders and their cycles. Knows no transactions.
//
// What is given a budget stops when that is exhausted, and returns something of no use: whoever set
// limits asks the budget before believing it.
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

// Adjacency by node. Parallel arcs are kept.
class Digraph {
 public:
  // The result does not depend on `threads` (zero: one per core).
  Digraph(std::size_t node_count, std::span<const Arc> arcs, unsigned threads = 1,
          const Budget& budget = Budget());

  [[nodiscard]] std::size_t node_count() const { return first_.size() - 1; }
  [[nodiscard]] std::size_t arc_count() const { return first_.back(); }
  [[nodiscard]] std::span<const Node> out(Node node) const {
    return {to_.get() + first_[node], first_[node + 1] - first_[node]};
  }
  // Fetch what out(node) asks first, and what it returns, into the cache.
  void prefetch(Node node) const { __builtin_prefetch(&first_[node]); }
  void prefetch_out(Node node) const { __builtin_prefetch(to_.get() + first_[node]); }
  // The same arcs the other way round.
  [[nodiscard]] Digraph reversed(unsigned threads = 1, const Budget& budget = Budget()) const;

 private:
  Digraph() = default;
  // `each(part, parts, f)` calls f(from, to) for one of the parts of `arcs` arcs, which come one
  // after the other in the same order for every number of parts, while the budget lasts.
  template <class Each>
  void fill(std::size_t nodes, std::size_t arcs, unsigned threads, const Budget& budget,
            const Each& each);

  std::vector<std::uint64_t> first_;  // Where the arcs of each node begin, and the last one's end.
  std::unique_ptr<Node[]> to_;        // Not a vector: whoever fills it touches it first.
};

// The nodes, each before those it has arcs to; of those that could come next the one that stands
// first in `preferred`, a permutation of the nodes. Nodes on cycles, and behind them, are missing.
[[nodiscard]] std::vector<Node> topological_order(const Digraph& graph,
                                                  std::span<const Node> preferred,
                                                  const Budget& budget = Budget());

// The strongly connected components of more than one node or with a loop, each sorted; smallest
// first, then by first node.
[[nodiscard]] std::vector<std::vector<Node>> cyclic_components(const Digraph& graph,
                                                               const Budget& budget = Budget());

// A shortest cycle within `component`, one of cyclic_components(graph); its nodes in order. In
// components of more than `exhaustive` nodes only that many are tried as starts, so the cycle is
// short but maybe not shortest; fewer if the budget is exhausted, and none if it is at once.
[[nodiscard]] std::vector<Node> short_cycle(const Digraph& graph, std::span<const Node> component,
                                            const Budget& budget = Budget(),
                                            std::size_t exhaustive = 256);

}  // namespace ouro
