// The graph of what must precede what in every commit order: session order, reads-from, known
// version orders, what predicate reads saw, and edges that a level's rule forces.
#pragma once

#include <vector>

#include "check/observed/observed.h"
#include "graph/digraph.h"

namespace ouro {

// An edge that the rule of a weak level forces: the reader of `read` had seen `from`, which writes
// the key too, yet returned the version of `to`; so `from` must commit before `to`.
struct ForcedEdge {
  TxnId from;
  TxnId to;     // kInitialTxn: impossible, the initial transaction is first.
  ItemId read;  // The read of the key that returned the version of `to`.
  ItemId saw;   // The read by which the reader saw `from`; invalid: by session order or indirectly.
};

class CommitGraph {
 public:
  // Incomplete once the budget is exhausted, as is with().
  CommitGraph(const Observed& observed, const Budget& budget);

  // All edges, with those in `forced`. Nodes are transactions, by number; those that do not take
  // part have no arcs.
  [[nodiscard]] Digraph with(std::span<const ForcedEdge> forced, const Budget& budget) const;

  // All nodes in the order in which they probably committed. A good guess saves work, a bad one
  // costs nothing else.
  [[nodiscard]] std::span<const Node> likely_order() const { return likely_order_; }

  // Why the nodes of `cycle` follow each other. REQUIRES: a cycle of with(forced).
  [[nodiscard]] std::vector<Edge> explain(std::span<const Node> cycle,
                                          std::span<const ForcedEdge> forced) const;
  // The cycle that an edge to the initial transaction closes, as that one precedes all others.
  [[nodiscard]] std::vector<Edge> explain_initial(const ForcedEdge& edge) const;
  // Anomaly::support of a cycle that explain() returned. Cost: at most one walk over the reader's
  // past for each edge that needs a path.
  [[nodiscard]] std::vector<Edge> support(std::span<const Edge> cycle) const;

 private:
  [[nodiscard]] Edge explain(TxnId from, TxnId to, std::span<const ForcedEdge> forced) const;
  [[nodiscard]] Edge explain(const ForcedEdge& edge) const;
  [[nodiscard]] Edge explain_read(TxnId from, ItemId read) const;
  [[nodiscard]] ItemId read_from(TxnId writer, TxnId reader) const;
  [[nodiscard]] bool same_session_before(TxnId from, TxnId to) const;

  const Observed& o_;
  std::vector<Arc> arcs_;
  std::vector<Node> likely_order_;
};

}  // namespace ouro
