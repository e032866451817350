// Who reaches whom in a graph without cycles, while arcs are added and taken back, last in, first
// out.
//
// A node has a row of bits, one for each node that it reaches, itself included. An arc from a to b
// is nothing new if a reaches b already. Otherwise b's row is added to that of a and to those of
// all who reach a but not b; they are found by going back along the arcs, and nobody behind one who
// reaches b need be looked at. So the cost is that of the rows that change, and of what is saved of
// them to take the arc back.
//
// Rows are short if nodes are numbered in a topological order, as a row is looked at only where it
// has bits. Memory: n²/8 bytes, and what was saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/digraph.h"

namespace ouro {

class Closure {
 public:
  // REQUIRES: every arc of `known` leads to a larger node.
  explicit Closure(const Digraph& known);

  [[nodiscard]] std::size_t node_count() const { return in_.node_count(); }
  [[nodiscard]] bool reaches(Node from, Node to) const {
    return (row(from)[to / kBits] >> (to % kBits) & 1) != 0;
  }

  // What a node reaches in addition, in an add() under way.
  class Gain {
   public:
    [[nodiscard]] bool has(Node node) const {
      return (bits_[node / kBits] >> (node % kBits) & 1) != 0;
    }

   private:
    friend class Closure;
    std::vector<std::uint64_t> bits_;   // By word of a row; zero outside words_.
    std::vector<std::uint32_t> words_;  // The words of the row of arc.to that are not zero.
  };
  // Adds `arc`, and calls f(node, gain) for every node that reaches more now. If f returns false,
  // the rest is left as it was, and all that can be done then is shrink(). REQUIRES: arc.to does
  // not reach arc.from.
  template <class F>
  void add(Arc arc, const F& f);
  // size() tells how many arcs that were something new there are; shrink() takes back all but the
  // first `size`.
  [[nodiscard]] std::size_t size() const { return added_.size(); }
  void shrink(std::size_t size);

  // How many words of rows were looked at so far: the work done.
  [[nodiscard]] std::uint64_t words() const { return words_; }
  // Bytes used.
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::size_t kBits = 64;
  struct Added {
    Arc arc;
    std::int32_t next_in;  // The arc added before it to the same node; -1: none.
    std::size_t saved;     // How many rows had been saved before.
  };
  struct Saved {
    Node node;
    std::uint32_t first, count;  // Words.
  };

  [[nodiscard]] const std::uint64_t* row(Node node) const { return &rows_[node * width_]; }
  [[nodiscard]] std::uint64_t* row(Node node) { return &rows_[node * width_]; }
  void look_at(Node to);
  void take(Node node, Node to);
  void take_all_words(Node node, Node to);

  Digraph in_;  // The reverse of the known arcs.
  std::size_t width_;
  std::vector<std::uint64_t> rows_;
  std::vector<Added> added_;
  std::vector<std::int32_t> first_in_;  // By node: the last added arc to it; -1: none.
  std::vector<Saved> saved_;
  std::vector<std::uint64_t> saved_words_;
  Gain gain_;
  std::vector<Node> stack_;
  std::uint64_t words_ = 0;
};

template <class F>
void Closure::add(Arc arc, const F& f) {
  if (reaches(arc.from, arc.to)) return;
  added_.push_back({arc, first_in_[arc.to], saved_.size()});
  first_in_[arc.to] = static_cast<std::int32_t>(added_.size() - 1);
  look_at(arc.to);
  stack_.clear();
  const auto visit = [&](Node node) {
    if (reaches(node, arc.to)) return true;
    take(node, arc.to);
    stack_.push_back(node);
    return f(node, gain_);
  };
  bool go_on = visit(arc.from);
  while (go_on && !stack_.empty()) {
    const Node node = stack_.back();
    stack_.pop_back();
    for (const Node before : in_.out(node)) {
      if (!visit(before)) return;
    }
    for (std::int32_t at = first_in_[node]; at >= 0; at = added_[at].next_in) {
      if (!visit(added_[at].arc.from)) return;
    }
    words_ += in_.out(node).size();
  }
}

}  // namespace ouro
