#include "check/observed/violated.h"

#include <algorithm>
#include <utility>

namespace ouro {

void add_cycle(Verdict& verdict, AnomalyKind kind, std::vector<Edge> edges) {
  verdict.outcome = Outcome::Violated;
  ++verdict.counts[static_cast<std::size_t>(kind)];
  Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = std::move(edges)};
  for (const Edge& edge : anomaly.edges) {
    if (edge.from != kInitialTxn) anomaly.txns.push_back(edge.from);
  }
  verdict.anomalies.push_back(std::move(anomaly));
}

Verdict violated_in_all(const History& history, Level level, std::vector<SourceCase> cases) {
  Verdict verdict{.level = level, .outcome = Outcome::Violated};
  Anomaly anomaly{.kind = AnomalyKind::ContradictoryOrder, .txns = {}, .ops = {}, .edges = {}};
  for (const SourceCase& each : cases) {
    for (const ReadSource& said : each.sources) anomaly.ops.push_back(said.read);
    for (const ReadSight& sight : each.sights) anomaly.ops.push_back(sight.read);
    if (anomaly.edges.empty() && !each.anomalies.empty()) anomaly.edges = each.anomalies[0].edges;
  }
  std::sort(anomaly.ops.begin(), anomaly.ops.end());
  anomaly.ops.erase(std::unique(anomaly.ops.begin(), anomaly.ops.end()), anomaly.ops.end());
  for (const OpId op : anomaly.ops) {
    const TxnId txn = history.txn_of(op);
    if (anomaly.txns.empty() || anomaly.txns.back() != txn) anomaly.txns.push_back(txn);
  }
  ++verdict.counts[static_cast<std::size_t>(anomaly.kind)];
  verdict.anomalies.push_back(std::move(anomaly));
  verdict.cases = std::move(cases);
  return verdict;
}

}  // namespace ouro
