// Keeps a topological order of a graph that grows and shrinks at its end.
//
// An arc that agrees with the order costs O(1); one that does not moves the nodes between its ends
// (Pearce and Kelly, 2006), or is refused because it closes a cycle. Arcs are taken back in the
// reverse order of their coming, which leaves the order as it is: fewer arcs cannot make it wrong.
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
  using Label = std::uint32_t;
  static constexpr Label kNoLabel = 0xffffffff;  // Of the arcs given at the start, and others.

  // `order` is a topological order of `known`, whose arcs stay for ever. `back` is its reverse, if
  // somebody has made it. The budget must outlive this; it is charged for the nodes visited.
  DynamicOrder(Digraph known, std::optional<Digraph> back, std::span<const Node> order,
               const Budget& budget, unsigned threads = 1);

  // Whether the budget was exhausted in the middle of something: nothing below can be relied on any
  // more, but that add() only ever refuses arcs that close a cycle.
  [[nodiscard]] bool stopped() const { return ticker_.stopped(); }

  [[nodiscard]] std::size_t node_count() const { return position_.size(); }
  [[nodiscard]] std::uint32_t position(Node node) const { return position_[node]; }

  // Adds `arc`. If it closes a cycle, changes nothing and returns false.
  [[nodiscard]] bool add(Arc arc, Label label);
  // The number of arcs added, and taking back all but the first `count` of them.
  [[nodiscard]] std::size_t added() const { return extra_.size(); }
  void shrink(std::size_t count);

  // Nodes that changed their position since the last clear_moved(); may repeat.
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
  // A path from `from` to `to` with as few labelled arcs as possible, and as few arcs as possible
  // among those. Empty if there is none. Only nodes between the two in the order are looked at.
  [[nodiscard]] std::vector<Step> lightest_path(Node from, Node to);

 private:
  struct Extra {
    Arc arc;
    Label label;
    std::int32_t next_out, next_in;
  };

  template <class F>
  void for_each_in(Node node, const F& f);
  bool search_forward(Node start, Node goal, std::uint32_t limit);
  void search_backward(Node start, std::uint32_t limit);
  void reorder();

  Digraph out_;
  std::optional<Digraph> in_;  // The reverse of out_; made when it is needed first.
  const Budget& budget_;
  BudgetTicker ticker_;
  unsigned threads_;
  std::vector<std::uint32_t> position_;
  std::vector<std::int32_t> first_out_, first_in_;  // Into extra_; -1: none.
  std::vector<Extra> extra_;
  std::vector<std::uint32_t> mark_;  // The search that saw the node last.
  std::uint32_t search_ = 0;
  std::vector<Node> after_, before_;
  std::vector<std::uint32_t> free_positions_;
  std::vector<Node> moved_;
};

}  // namespace ouro
