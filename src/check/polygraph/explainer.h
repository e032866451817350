// Turns cycles of nodes back into edges between transactions, with the operations that prove them.
#pragma once

#include <span>
#include <vector>

#include "check/polygraph/encoding.h"
#include "check/polygraph/seen_versions.h"
#include "ouro/check.h"
#include "solver/proof.h"

namespace ouro {

class Explainer {
 public:
  // By choice, `pairs` are the chains that it is about, or it is one of `seen`, which may be
  // null if there is none such.
  explicit Explainer(const Encoding& encoding, std::span<const ChainPair> pairs = {},
                     const SeenVersions* seen = nullptr);

  // The edges of a cycle of arcs, in its order.
  [[nodiscard]] std::vector<Edge> edges(std::span<const DynamicOrder::Step> cycle) const;
  // The proof that `lemmas` are, without those that it does not need.
  [[nodiscard]] Refutation refutation(std::span<const Lemma> lemmas) const;

 private:
  [[nodiscard]] Edge known_edge(Arc arc) const;
  [[nodiscard]] Edge mixed_edge(Arc arc) const;
  [[nodiscard]] bool known_dependency(Edge& edge) const;
  [[nodiscard]] bool known_read(Edge& edge) const;
  [[nodiscard]] bool known_write_order(Edge& edge) const;
  [[nodiscard]] bool known_overwrite(ItemId read, TxnId to, Edge& edge) const;
  [[nodiscard]] Edge chosen_edge(TxnId from, Arc arc, Literal literal) const;
  [[nodiscard]] Edge source_edge(Arc arc, Literal literal) const;
  // What a choice of the solver is about. Choice::previous is another one.
  [[nodiscard]] Choice about(std::uint32_t choice) const;
  [[nodiscard]] Edge overwrite(TxnId reader, KeyId key, TxnId writer, TxnId to) const;
  [[nodiscard]] Edge write_order(TxnId from, KeyId key, TxnId to) const;
  [[nodiscard]] bool leads(TxnId txn, KeyId key) const;
  [[nodiscard]] bool follows(TxnId txn, KeyId key) const;
  [[nodiscard]] Edge time_edge(Node from, Node to) const;
  [[nodiscard]] ItemId read_of(TxnId reader, KeyId key, TxnId writer) const;

  const Encoding& e_;
  std::span<const ChainPair> pairs_;
  const SeenVersions* seen_;
  const Observed& o_;
};

}  // namespace ouro
