#include "check/local/local.h"

namespace ouro {
namespace {

bool violates(AnomalyKind kind, Level level) {
  return kind != AnomalyKind::NonRepeatableRead || level != Level::ReadCommitted;
}

Anomaly anomaly_of(const Observed& observed, const Finding& finding) {
  Anomaly anomaly{.kind = finding.kind,
                  .txns = {observed.txn(finding.item)},
                  .ops = {observed.items().op(finding.item)},
                  .edges = {}};
  if (finding.other.valid()) {
    anomaly.ops.push_back(observed.items().op(finding.other));
    const TxnId other = observed.txn(finding.other);
    if (other != anomaly.txns[0]) anomaly.txns.push_back(other);
  }
  return anomaly;
}

}  // namespace

void add_findings(Verdict& verdict, const Observed& observed, std::size_t examples) {
  for (const Finding& finding : observed.findings()) {
    if (!violates(finding.kind, verdict.level)) continue;
    verdict.outcome = Outcome::Violated;
    if (++verdict.counts[static_cast<std::size_t>(finding.kind)] <= examples) {
      verdict.anomalies.push_back(anomaly_of(observed, finding));
    }
  }
  for (const OpId op : result_set_mismatches(observed)) {
    verdict.outcome = Outcome::Violated;
    constexpr auto kKind = AnomalyKind::ResultSetMismatch;
    if (++verdict.counts[static_cast<std::size_t>(kKind)] > examples) continue;
    verdict.anomalies.push_back(
        {.kind = kKind, .txns = {observed.history().txn_of(op)}, .ops = {op}, .edges = {}});
  }
}

}  // namespace ouro
