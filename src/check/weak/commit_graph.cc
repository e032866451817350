#include "check/weak/commit_graph.h"

#include "check/observed/likely_order.h"
#include "check/weak/causal_path.h"

namespace ouro {

CommitGraph::CommitGraph(const Observed& observed, const Budget& budget)
    : o_(observed), likely_order_(likely_commit_order(observed.history(), budget)) {
  const History& h = o_.history();
  const Items& items = o_.items();
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId before;
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (!o_.counted(txn)) continue;
      if (before.valid()) arcs_.push_back({before.value, txn.value});
      before = txn;
    }
  }
  for_each_within(budget, 0, h.txn_count(), [&](std::size_t t) {
    const TxnId txn{t};
    if (!o_.counted(txn)) return;
    Node last = kInitialTxn.value;
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (!items.is_read(i) || !o_.external(i)) continue;
      const TxnId writer = o_.writer(i);
      if (writer == kInitialTxn || writer.value == last) continue;
      arcs_.push_back({writer.value, txn.value});
      last = writer.value;
    }
  });
  for (const VersionStep& step : o_.version_steps()) {
    if (!step.from.valid()) continue;
    arcs_.push_back({o_.txn(step.from).value, o_.txn(step.to).value});
  }
  for (const PredicateEdge& edge : o_.predicate_edges()) {
    if (!edge.overwrites) arcs_.push_back({o_.txn(edge.write).value, edge.reader.value});
  }
}

Digraph CommitGraph::with(std::span<const ForcedEdge> forced, const Budget& budget) const {
  if (forced.empty()) return {o_.history().txn_count(), arcs_, 1, budget};
  std::vector<Arc> arcs = arcs_;
  arcs.reserve(arcs.size() + forced.size());
  for (const ForcedEdge& edge : forced) arcs.push_back({edge.from.value, edge.to.value});
  return {o_.history().txn_count(), arcs, 1, budget};
}

std::vector<Edge> CommitGraph::explain(std::span<const Node> cycle,
                                       std::span<const ForcedEdge> forced) const {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    edges.push_back(explain(TxnId{cycle[i]}, TxnId{cycle[(i + 1) % cycle.size()]}, forced));
  }
  return edges;
}

std::vector<Edge> CommitGraph::explain_initial(const ForcedEdge& edge) const {
  const Edge back = explain(edge);
  Edge first{.from = kInitialTxn, .to = edge.from, .kind = EdgeKind::WriteWrite, .key = back.key};
  first.to_op = back.from_op;
  return {first, back};
}

bool CommitGraph::same_session_before(TxnId from, TxnId to) const {
  return o_.history().session(from) == o_.history().session(to) && from < to;
}

// The first read of `reader` that returned a write of `writer`; invalid if there is none.
ItemId CommitGraph::read_from(TxnId writer, TxnId reader) const {
  const Items& items = o_.items();
  for (ItemId i = items.first(reader); i < items.end(reader); ++i.value) {
    if (items.is_read(i) && o_.external(i) && o_.writer(i) == writer) return i;
  }
  return {};
}

Edge CommitGraph::explain_read(TxnId from, ItemId read) const {
  const Items& items = o_.items();
  return {.from = from,
          .to = o_.txn(read),
          .kind = EdgeKind::WriteRead,
          .key = items.key(read),
          .from_op = items.op(o_.write(read)),
          .to_op = items.op(read)};
}

Edge CommitGraph::explain(TxnId from, TxnId to, std::span<const ForcedEdge> forced) const {
  const Items& items = o_.items();
  if (same_session_before(from, to)) return {.from = from, .to = to, .kind = EdgeKind::Session};
  if (const ItemId read = read_from(from, to); read.valid()) return explain_read(from, read);
  for (const VersionStep& step : o_.version_steps()) {
    if (!step.from.valid() || o_.txn(step.from) != from || o_.txn(step.to) != to) continue;
    return {.from = from,
            .to = to,
            .kind = EdgeKind::WriteWrite,
            .key = items.key(step.from),
            .from_op = items.op(step.from),
            .to_op = items.op(step.to),
            .read = step.read.valid() ? items.op(step.read) : OpId{}};
  }
  for (const ForcedEdge& edge : forced) {
    if (edge.from == from && edge.to == to) return explain(edge);
  }
  if (Edge edge; explain_predicate(o_, from, to, false, edge)) return edge;
  return {.from = from, .to = to};
}

Edge CommitGraph::explain(const ForcedEdge& edge) const {
  const Items& items = o_.items();
  const KeyId key = items.key(edge.read);
  const ItemId from_write = final_write(o_, edge.from, key);
  Edge out{.from = edge.from, .to = edge.to, .kind = EdgeKind::Forced, .key = key};
  out.from_op = items.op(from_write);
  const ItemId to_write = o_.write(edge.read);
  if (to_write.valid()) out.to_op = items.op(to_write);
  out.read = items.op(edge.read);
  ItemId saw = edge.saw;
  const TxnId reader = o_.txn(edge.read);
  if (!saw.valid() && !same_session_before(edge.from, reader)) saw = read_from(edge.from, reader);
  if (saw.valid()) out.saw = items.op(saw);
  return out;
}

std::vector<Edge> CommitGraph::support(std::span<const Edge> cycle) const {
  std::vector<Edge> paths;
  std::size_t count = 0;
  for (const Edge& edge : cycle) {
    if (edge.kind != EdgeKind::Forced || edge.saw.valid()) continue;
    const TxnId reader = o_.history().txn_of(edge.read);
    if (same_session_before(edge.from, reader)) continue;
    if (++count > Anomaly::kMaxPaths) break;
    const std::vector<TxnId> path = causal_path(o_, edge.from, reader);
    for (std::size_t i = 1; i < path.size(); ++i) {
      paths.push_back(explain(path[i - 1], path[i], {}));
    }
  }
  return paths;
}

}  // namespace ouro
