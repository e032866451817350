// Keeps a topological order of a graph while arcs are added and taken back, last in, first out.
//
// Adding an arc that agrees with the order costs O(1). One that does not moves the nodes between
// its ends (Pearce and Kelly, 2006), or is refused because it closes a cycle. Taking arcs back
// leaves the order as it is: it is a topological order of fewer arcs, too.
//
// Invariant, between calls: position(from) < position(to) for every arc, until stopped().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/digraph.h"

namespace ouro {

class DynamicOrder {
 public:
  // What the user of this class knows an added arc by. The arcs given at the start have kNoLabel.
  using Label = std::uint32_t;
  static constexpr Label kNoLabel = 0xffffffff;

  // The arcs of `known` are never taken back. `back` is known.reversed() if the caller has it; else
  // it is made when it is needed. REQUIRES: `order` is a topological order of `known`. The budget
  // must outlive this; it is charged for the nodes visited.
  DynamicOrder(Digraph known, std::optional<Digraph> back, std::span<const Node> order,
               const Budget& budget, unsigned threads = 1);

  // Whether the budget was exhausted in the middle of a function. Then the order may be wrong, and
  // nothing below can be relied on, except that add() refuses only arcs that close a cycle.
  [[nodiscard]] bool stopped() const { return ticker_.stopped(); }

  [[nodiscard]] std::size_t node_count() const { return position_.size(); }
  // Where the node stands in the order, from 0.
  [[nodiscard]] std::uint32_t position(Node node) const { return position_[node]; }

  // Adds `arc`. If it closes a cycle, changes nothing and returns false.
  [[nodiscard]] bool add(Arc arc, Label label);
  // added() is the number of arcs that were added; shrink() takes back all but the first `count`.
  [[nodiscard]] std::size_t added() const { return extra_.size(); }
  void shrink(std::size_t count);

  // The nodes that changed their position since the last clear_moved(). A node may be there twice.
  [[nodiscard]] std::span<const Node> moved() const { return moved_; }
  void clear_moved() { moved_.clear(); }

  // Calls f(to, label) for every arc out of `node`.
  template <class F>
  void for_each_out(Node node, const F& f) const {
    for (const Node to : out_.out(node)) f(to, kNoLabel);
    for (std::int32_t at = first_out_[node]; at >= 0; at = extra_[at].next_out) {
      f(extra_[at].arc.to, extra_[at].label);
    }
  }

  // An arc on a path.
  struct Step {
    Arc arc;
    Label label = kNoLabel;
  };
  // A path from `from` to `to` with the fewest labelled arcs and, among those, the fewest arcs.
  // Empty if there is none, or if from == to. Cost: Dijkstra's algorithm over the nodes between the
  // two in the order.
  [[nodiscard]] std::vector<Step> lightest_path(Node from, Node to);

 private:
  // An added arc. Those from one node are a linked list, and those to one node another.
  struct Extra {
    Arc arc;
    Label label;
    std::int32_t next_out, next_in;  // The next arc from, and to, the same node; -1: none.
  };

  template <class F>
  void for_each_in(Node node, const F& f);
  bool search_forward(Node start, Node goal, std::uint32_t limit);
  void search_backward(Node start, std::uint32_t limit);
  void reorder();

  Digraph out_;                // The arcs given at the start,
  std::optional<Digraph> in_;  // and their reverse, made when it is needed first.
  const Budget& budget_;
  BudgetTicker ticker_;
  unsigned threads_;
  std::vector<std::uint32_t> position_;
  // By node: the last added arc from it, and to it, as an index into extra_; -1: none.
  std::vector<std::int32_t> first_out_, first_in_;
  std::vector<Extra> extra_;
  std::vector<std::uint32_t> mark_;            // The number of the search that saw the node last.
  std::uint32_t search_ = 0;                   // The number of the search under way.
  std::vector<Node> after_, before_;           // What the searches of add() found.
  std::vector<std::uint32_t> free_positions_;  // Scratch of reorder().
  std::vector<Node> moved_;
};

}  // namespace ouro
