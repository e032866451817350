#include "check/local/local.h"

#include <absl/container/flat_hash_set.h>

#include "base/level_rules.h"
#include "check/observed/mixture.h"
#include "check/observed/phantom.h"

namespace ouro {
namespace {

// A row that one of two reads left out is a phantom.
bool violates(const Observed& observed, const WrongRead& wrong, Level level) {
  if (wrong.kind != AnomalyKind::NonRepeatableRead) return true;
  const LevelRules& own = rules(level_of(observed.history(), level, observed.txn(wrong.item)));
  const bool phantom = is_phantom(observed, wrong.item) || is_phantom(observed, wrong.other);
  return !own.rereads_differ && !(phantom && own.phantoms);
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

void add_flaw(Verdict& verdict, const History& history, const PredicateFlaw& flaw,
              std::size_t examples) {
  verdict.outcome = Outcome::Violated;
  if (++verdict.counts[static_cast<std::size_t>(flaw.kind)] > examples) return;
  Anomaly anomaly{
      .kind = flaw.kind, .txns = {history.txn_of(flaw.read)}, .ops = {flaw.read}, .edges = {}};
  anomaly.expected = flaw.expected;
  if (flaw.write.valid()) {
    anomaly.ops.push_back(flaw.write);
    const TxnId writer = history.txn_of(flaw.write);
    if (writer != anomaly.txns[0]) anomaly.txns.push_back(writer);
  }
  verdict.anomalies.push_back(std::move(anomaly));
}

}  // namespace

void add_wrong_reads(Verdict& verdict, const Observed& observed,
                     std::span<const PredicateFlaw> flaws, std::size_t examples) {
  for (const WrongRead& wrong : observed.wrong_reads()) {
    if (!violates(observed, wrong, verdict.level)) continue;
    verdict.outcome = Outcome::Violated;
    if (++verdict.counts[static_cast<std::size_t>(wrong.kind)] <= examples) {
      verdict.anomalies.push_back(anomaly_of(observed, wrong));
    }
  }
  absl::flat_hash_set<OpId> mismatches;
  for (const PredicateFlaw& flaw : flaws) {
    if (flaw.kind == AnomalyKind::ResultSetMismatch) mismatches.insert(flaw.read);
    add_flaw(verdict, observed.history(), flaw, examples);
  }
  for (const PredicateFlaw& flaw : plain_predicate_flaws(observed)) {
    // A result that differs from its snapshot may be wrong by itself, too. It is reported once.
    const bool known =
        flaw.kind == AnomalyKind::ResultSetMismatch && mismatches.contains(flaw.read);
    if (!known) add_flaw(verdict, observed.history(), flaw, examples);
  }
}

}  // namespace ouro
