#include "check/local/local.h"

#include "check/versions/predicate_reads.h"

namespace ouro {
namespace {

bool violates(AnomalyKind kind, Level level) {
  return kind != AnomalyKind::NonRepeatableRead || level != Level::ReadCommitted;
}

Anomaly anomaly_of(const Observed& observed, const WrongRead& wrong) {
  Anomaly anomaly{.kind = wrong.kind,
                  .txns = {observed.txn(wrong.item)},
                  .ops = {observed.items().op(wrong.item)},
                  .edges = {}};
  if (wrong.other.valid()) {
    anomaly.ops.push_back(observed.items().op(wrong.other));
    const TxnId other = observed.txn(wrong.other);
    if (other != anomaly.txns[0]) anomaly.txns.push_back(other);
  }
  return anomaly;
}

}  // namespace

void add_wrong_reads(Verdict& verdict, const Observed& observed, std::size_t examples) {
  for (const WrongRead& wrong : observed.wrong_reads()) {
    if (!violates(wrong.kind, verdict.level)) continue;
    verdict.outcome = Outcome::Violated;
    if (++verdict.counts[static_cast<std::size_t>(wrong.kind)] <= examples) {
      verdict.anomalies.push_back(anomaly_of(observed, wrong));
    }
  }
  for (const PredicateFlaw& flaw : observed.predicates().flaws()) {
    verdict.outcome = Outcome::Violated;
    if (++verdict.counts[static_cast<std::size_t>(flaw.kind)] > examples) continue;
    Anomaly anomaly{.kind = flaw.kind,
                    .txns = {observed.history().txn_of(flaw.read)},
                    .ops = {flaw.read},
                    .edges = {}};
    anomaly.expected = flaw.expected;
    if (flaw.write.valid()) {
      anomaly.ops.push_back(flaw.write);
      const TxnId writer = observed.history().txn_of(flaw.write);
      if (writer != anomaly.txns[0]) anomaly.txns.push_back(writer);
    }
    verdict.anomalies.push_back(std::move(anomaly));
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
