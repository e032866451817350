// Who reaches whom in a graph without cycles, while arcs are added and taken back, last in, first
// out.
//
// A node has a row of bits, one for each node that it reaches, itself included. An arc from a to b
// is nothing new if a reaches b already. Otherwise what b has and a has not is offered to a and to
// all who reach a but not b: as they have all that a has, nothing else of b's row is new to them.
// They are found by going back along the arcs, and nobody behind one who reaches b need be looked
// at; nor anybody twice, since whether a node reaches b is mostly not in the cache. So the cost is
// that of the parts of rows that change, which are small where a and b are close to each other, and
// of what is saved of them to take the arc back.
//
// Rows are short if nodes are numbered in a topological order, as a row is looked at only where it
// has bits. Memory: n²/8 bytes, and what was saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/digraph.h"
#include "graph/word_stack.h"

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
    std::vector<std::uint32_t> words_;  // Those in which arc.to has a bit that arc.from has not.
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
    std::size_t saved;     // How many parts of rows had been saved before.
  };

  [[nodiscard]] const std::uint64_t* row(Node node) const { return &rows_[node * width_]; }
  [[nodiscard]] std::uint64_t* row(Node node) { return &rows_[node * width_]; }
  void look_at(Arc arc);
  void take(Node node);
  void take_all_words(Node node);
  std::uint64_t* save(Node node, std::size_t first, std::size_t count);
  void put_back();
  // Which words of a row are not zero, a bit for each.
  [[nodiscard]] std::uint64_t* used(Node node) { return &used_[node * used_width_]; }

  Digraph in_;  // The reverse of the known arcs.
  std::size_t width_, used_width_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> used_;
  std::vector<Added> added_;
  std::vector<std::int32_t> first_in_;  // By node: the last added arc to it; -1: none.
  WordStack saved_;  // Parts of rows as they were; behind each, whose it is and where.
  std::size_t saved_count_ = 0;
  Gain gain_;
  std::vector<std::uint64_t> offered_;  // By word, if it is one of gain_.words_.
  std::vector<Node> stack_;
  std::vector<std::uint32_t> visited_;  // By node: the last add() that looked at it.
  std::uint32_t visit_ = 0;
  std::uint64_t words_ = 0;
};

template <class F>
void Closure::add(Arc arc, const F& f) {
  if (reaches(arc.from, arc.to)) return;
  added_.push_back({arc, first_in_[arc.to], saved_count_});
  first_in_[arc.to] = static_cast<std::int32_t>(added_.size() - 1);
  look_at(arc);
  stack_.clear();
  const auto visit = [&](Node node) {
    if (visited_[node] == visit_) return true;
    visited_[node] = visit_;
    if (reaches(node, arc.to)) return true;
    take(node);
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
