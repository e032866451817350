#include "check/polygraph/polygraph.h"

#include <algorithm>
#include <optional>

#include "check/observed/likely_order.h"
#include "check/polygraph/alignment.h"
#include "check/polygraph/encoding.h"
#include "check/polygraph/explainer.h"
#include "check/polygraph/parallel_si.h"
#include "check/polygraph/search.h"
#include "check/versions/worst_cycle.h"
#include "graph/digraph.h"

namespace ouro {
namespace {

// Adds the certificate of a level that holds: the transactions, or their begins and commits, in the
// order of the nodes.
void add_certificate(Verdict& verdict, const Encoding& encoding, const DynamicOrder& order,
                     const Budget& budget) {
  std::vector<Node> nodes(order.node_count());
  for_each_within(budget, 0, nodes.size(), [&](std::size_t node) {
    nodes[order.position(static_cast<Node>(node))] = static_cast<Node>(node);
  });
  for_each_within(budget, 0, nodes.size(), [&](std::size_t at) {
    const TxnId txn = encoding.txn(nodes[at]);
    if (txn == kInitialTxn || !encoding.observed().counted(txn)) return;
    if (encoding.split()) verdict.schedule.push_back({txn, encoding.is_commit(nodes[at])});
    if (encoding.is_commit(nodes[at])) verdict.order.push_back(txn);
  });
}

void add_anomaly(Verdict& verdict, AnomalyKind kind, std::vector<Edge> edges) {
  verdict.outcome = Outcome::Violated;
  ++verdict.counts[static_cast<std::size_t>(kind)];
  Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = std::move(edges)};
  for (const Edge& edge : anomaly.edges) {
    if (edge.from != kInitialTxn) anomaly.txns.push_back(edge.from);
  }
  verdict.anomalies.push_back(std::move(anomaly));
}

// If the evidence is version orders: a shortest cycle of the worst kind (worst_cycle.h) among the
// transactions of a component. Empty by other evidence, or if none was found.
std::vector<Edge> worst_edges(const Encoding& encoding, Level level, const CheckOptions& options,
                              std::span<const Node> component, const Budget& budget) {
  if (options.evidence != Evidence::Versions) return {};
  std::vector<TxnId> txns;
  for (const Node node : component) {
    const TxnId txn = encoding.txn(node);
    if (txn != kInitialTxn && (txns.empty() || txns.back() != txn)) txns.push_back(txn);
  }
  return worst_cycle(encoding.observed(), level, options.clock_drift, txns, budget);
}

// Adds one short cycle of each component of the known arcs, which are cyclic without any choice.
// Adds none if the budget does not last for one.
void add_known_cycles(Verdict& verdict, const Encoding& encoding, const Digraph& known,
                      const CheckOptions& options, const Budget& budget) {
  const Explainer explainer(encoding, nullptr);
  for (const auto& component : cyclic_components(known, budget)) {
    if (verdict.anomalies.size() >= options.examples) {
      ++verdict.counts[static_cast<std::size_t>(AnomalyKind::ForbiddenCycle)];
      continue;
    }
    auto worst = worst_edges(encoding, verdict.level, options, component, budget);
    if (!worst.empty()) {
      add_anomaly(verdict, AnomalyKind::ForbiddenCycle, std::move(worst));
      continue;
    }
    const std::vector<Node> cycle = short_cycle(known, component, budget);
    if (cycle.empty()) return;
    std::vector<DynamicOrder::Step> steps;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      steps.push_back({{cycle[i], cycle[(i + 1) % cycle.size()]}, DynamicOrder::kNoLabel});
    }
    add_anomaly(verdict, AnomalyKind::ForbiddenCycle, explainer.edges(steps));
  }
}

// Adds a refutation. A proof without choices is a single cycle; otherwise the first of its cycles
// is shown as an example.
void add_refutation(Verdict& verdict, const Explainer& explainer, std::span<const Lemma> proof) {
  Refutation refutation = explainer.refutation(proof);
  const auto first = std::find_if(refutation.steps.begin(), refutation.steps.end(),
                                  [](const RefutationStep& step) { return !step.cycle.empty(); });
  if (refutation.choices.empty()) {
    add_anomaly(verdict, AnomalyKind::ForbiddenCycle, first->cycle);
    return;
  }
  add_anomaly(verdict, AnomalyKind::ContradictoryOrder, first->cycle);
  verdict.refutation = std::move(refutation);
}

}  // namespace

Verdict check_polygraph(const Observed& observed, Level level, const Budget& budget,
                        const CheckOptions& options, bool sources) {
  Verdict verdict{.level = level};
  Encoding encoding(observed, level, options.clock_drift, options.search.chains, options.threads,
                    budget, sources);
  if (encoding.stopped()) return verdict;
  Digraph known(encoding.node_count(), encoding.arcs(), options.threads, budget);
  encoding.release_arcs();
  budget.charge(2 * known.node_count() + known.arc_count());
  if (budget.exhausted()) return verdict;
  const History& history = observed.history();
  std::vector<Node> nodes =
      topological_order(known, encoding.likely_order(likely_commit_order(history, budget)), budget);
  if (budget.exhausted()) return verdict;
  if (nodes.size() < known.node_count()) {
    add_known_cycles(verdict, encoding, known, options, budget);
    return verdict;
  }
  std::optional<Digraph> back;
  if (order_is_vague(history)) {
    back = known.reversed(options.threads, budget);
    budget.charge(10 * (known.node_count() + known.arc_count()));  // For aligned().
    if (const auto txns = aligned(encoding, known, *back, nodes, budget)) {
      nodes = topological_order(known, encoding.likely_order(*txns), budget);
    }
    if (budget.exhausted()) return verdict;
  }
  DynamicOrder order(std::move(known), std::move(back), nodes, budget, options.threads);
  nodes = {};
  Search search(encoding, order, options.search, options.threads, budget);
  if (budget.exhausted()) return verdict;
  Solver solver(order, budget);
  ParallelSi parallel(encoding, order, search, budget);
  Guide& guide = encoding.overwrites() ? static_cast<Guide&>(search) : parallel;
  switch (solver.solve(guide)) {
    case Solution::Found:
      add_certificate(verdict, encoding, order, budget);
      if (search.sources() != nullptr) verdict.sources = search.sources()->sources();
      if (budget.exhausted()) return Verdict{.level = level};
      verdict.outcome = Outcome::Holds;
      break;
    case Solution::None:
      add_refutation(verdict, Explainer(encoding, &search), solver.proof());
      break;
    case Solution::Stopped:
      break;
  }
  return verdict;
}

}  // namespace ouro
