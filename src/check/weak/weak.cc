#include "check/weak/weak.h"

#include <algorithm>

namespace ouro {
namespace {

AnomalyKind kind_at(Level level) {
  switch (level) {
    case Level::ReadCommitted:
      return AnomalyKind::CommitOrderCycle;
    case Level::ReadAtomic:
      return AnomalyKind::FracturedRead;
    default:
      return AnomalyKind::CausalityViolation;
  }
}

void add_anomaly(Verdict& verdict, const CommitGraph& commit_graph, AnomalyKind kind,
                 std::vector<Edge> edges, std::size_t limit) {
  verdict.outcome = Outcome::Violated;
  if (++verdict.counts[static_cast<std::size_t>(kind)] > limit) return;
  Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = std::move(edges)};
  anomaly.support = commit_graph.support(anomaly.edges);
  const auto add = [&](TxnId txn) {
    if (txn.valid() &&
        std::find(anomaly.txns.begin(), anomaly.txns.end(), txn) == anomaly.txns.end()) {
      anomaly.txns.push_back(txn);
    }
  };
  for (const Edge& edge : anomaly.edges) add(edge.from);
  verdict.anomalies.push_back(std::move(anomaly));
}

// Adds a cycle of each component.
void add_cycles(Verdict& verdict, const CommitGraph& commit_graph, const Digraph& graph,
                AnomalyKind kind, std::span<const ForcedEdge> forced, std::size_t limit) {
  for (const auto& component : cyclic_components(graph)) {
    const bool shown = verdict.counts[static_cast<std::size_t>(kind)] < limit;
    std::vector<Edge> edges;
    if (shown) edges = commit_graph.explain(short_cycle(graph, component), forced);
    add_anomaly(verdict, commit_graph, kind, std::move(edges), limit);
  }
}

std::vector<ForcedEdge> infer(const Observed& observed, Level level, std::span<const Node> order,
                              const Budget& budget, const CheckOptions& options) {
  switch (level) {
    case Level::ReadCommitted:
      return infer_read_committed(observed, budget);
    case Level::ReadAtomic:
      return infer_read_atomic(observed, budget);
    default:
      return infer_causal(observed, order, budget, options.threads);
  }
}

}  // namespace

Verdict check_weak(const Observed& observed, Level level, const Budget& budget,
                   const CheckOptions& options) {
  Verdict verdict{.level = level};
  const CommitGraph commit_graph(observed);
  std::vector<ForcedEdge> forced;
  AnomalyKind kind = AnomalyKind::DependencyCycle;
  // rc and ra need one round; cc goes on until its guess of the commit order meets no objection.
  for (bool inferred_all = false;; kind = kind_at(level)) {
    const Digraph graph = commit_graph.with(forced);
    const std::vector<Node> order = topological_order(graph, commit_graph.likely_order());
    if (order.size() < graph.node_count()) {
      add_cycles(verdict, commit_graph, graph, kind, forced, options.examples);
      return verdict;
    }
    std::vector<ForcedEdge> more;
    if (!inferred_all) more = infer(observed, level, order, budget, options);
    if (budget.exhausted()) return verdict;
    if (more.empty()) {
      verdict.outcome = Outcome::Holds;
      verdict.order = commit_graph.counted(order);
      return verdict;
    }
    inferred_all = level != Level::Causal;
    for (const ForcedEdge& edge : more) {
      if (edge.to != kInitialTxn) continue;
      add_anomaly(verdict, commit_graph, kind_at(level), commit_graph.explain_initial(edge),
                  options.examples);
    }
    if (verdict.outcome == Outcome::Violated) return verdict;
    forced.insert(forced.end(), more.begin(), more.end());
  }
}

}  // namespace ouro
