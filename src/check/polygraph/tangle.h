// All choices of an encoding at once, for the full search (full_search.h).
//
// The search on demand (search.h) needs next to nothing for what its guess gets right; where it
// runs into conflict after conflict, that is no use any more. A tangle makes a choice of every two
// chains of every key, so the full search sees at once what each decision rules out.
//
// At psi, cycles with at most one rw are forbidden, and others are not. So every transaction has
// two nodes, in two layers: so, wr and ww lead from layer to the same layer, rw from the first to
// the second. What must not be is a cycle within a layer, and a path from the first node of a
// transaction to its second.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/dynamic_order.h"
#include "solver/full_search.h"
#include "solver/proof.h"

namespace ouro {

class Tangle {
 public:
  // About how much work it is to make a tangle: quadratic in the nodes, and in the chains of each
  // key. Nothing if that takes too much memory.
  [[nodiscard]] static std::optional<Steps> cost(const Encoding& encoding);

  // `order` is the search's current order: its arcs without labels are known, and the sides that it
  // keeps are tried first. REQUIRES: cost(encoding) is something. At psi, `encoding` is one in
  // which overwrites are arcs, although those of `order` have none.
  Tangle(const Encoding& encoding, const DynamicOrder& order, bool parallel);

  // Whether a search makes sense: what is known has no cycle, and not too much memory is taken.
  [[nodiscard]] bool usable() const { return search_ && !search_->is_too_large(); }
  // As FullSearch::run(). REQUIRES: usable().
  [[nodiscard]] Solution run(const Budget& budget) { return search_->run(budget); }

  // An order of the nodes of `order` that keeps a side of every choice. REQUIRES: run() returned
  // Found.
  [[nodiscard]] std::vector<Node> order() const;
  // The arcs between the nodes of `order` that hold in any case.
  [[nodiscard]] Digraph known() const { return {node_count_, plain_arcs(problem_.known)}; }
  // Why no order keeps a side of every choice; the nodes are those of `order`. REQUIRES: run()
  // returned None.
  [[nodiscard]] std::vector<Lemma> proof();
  // The chains that each choice is about; a literal that is not opposite puts `first` first.
  [[nodiscard]] std::span<const ChainPair> pairs() const { return pairs_; }

 private:
  void add_known(const DynamicOrder& order);
  void add_initial_chains();
  void add_choices(const DynamicOrder& order);
  [[nodiscard]] FullProblem::Side side(ChainId first, ChainId second) const;
  [[nodiscard]] bool gathers(Node node) const { return parallel_ && node >= e_.first_readers(); }
  // The node of the problem for a node of the encoding in a layer, and back.
  [[nodiscard]] Node layered(Node node, std::uint32_t layer) const;
  [[nodiscard]] Node plain(Node node) const;
  void add_dependency(Arc arc);
  void add_overwrite(Arc arc);
  // The arcs of the first layer, between nodes of the encoding.
  [[nodiscard]] std::vector<Arc> plain_arcs(std::span<const Arc> arcs) const;
  [[nodiscard]] std::vector<DynamicOrder::Step> plain_cycle(
      std::span<const DynamicOrder::Step> cycle) const;

  const Encoding& e_;
  bool parallel_;
  std::size_t node_count_;  // Of `order`.
  FullProblem problem_;
  std::vector<ChainPair> pairs_;
  std::vector<Node> order_;  // A topological order of what is known.
  std::optional<FullSearch> search_;
};

}  // namespace ouro
