// Decides whether a certificate proves what it claims.

#include <algorithm>

#include "certify/cycles.h"
#include "certify/flaws.h"
#include "certify/orders.h"
#include "certify/predicate_reads.h"
#include "certify/reading.h"
#include "certify/refutation.h"
#include "certify/rules.h"
#include "certify/timestamps.h"
#include "ouro/certificate.h"

namespace ouro {
namespace {

using recheck::Cycles;
using recheck::Family;
using recheck::Flaws;
using recheck::PredicateReads;
using recheck::Reading;

bool is_plain(AnomalyKind kind) {
  return kind <= AnomalyKind::NonRepeatableRead || kind == AnomalyKind::VersionOrderMismatch;
}

// What is wrong before anything is looked at, or "".
std::string check_header(const History& history, const Certificate& certificate) {
  if (certificate.txns != history.txn_count() || certificate.ops != history.op_count() ||
      certificate.fingerprint != fingerprint(history)) {
    return "it is about another history";
  }
  const Evidence evidence = certificate.verdict.evidence;
  if (certificate.clock_drift < 0) return "its clock drift is negative";
  const Family family = recheck::rules_of(certificate.verdict.level).family;
  const bool strong = (family == Family::Snapshot && certificate.verdict.level != Level::Prefix) ||
                      family == Family::Serial;
  if (certificate.verdict.level == Level::RepeatableRead && evidence != Evidence::Versions) {
    return "there are no certificates of its level without version orders";
  }
  if (evidence == Evidence::Timestamps && !strong) {
    return "there are no certificates of its level";
  }
  return certificate.verdict.outcome == Outcome::Undecided ? "it is undecided" : "";
}

std::string check_order(const Reading& reading, const PredicateReads& predicates,
                        const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  const std::string flaw = Flaws(reading, predicates).first_forbidden(verdict.level);
  if (!flaw.empty()) return "the history is wrong in plain sight: " + flaw;
  const Family family = recheck::rules_of(verdict.level).family;
  std::vector<Event> serial;
  if (family != Family::Snapshot) {
    serial.reserve(verdict.order.size() * 2);
    for (const TxnId txn : verdict.order) {
      serial.push_back({txn, false});
      serial.push_back({txn, true});
    }
  }
  const std::vector<Event>& schedule = family == Family::Snapshot ? verdict.schedule : serial;
  const bool ordered = family == Family::Weak || family == Family::Parallel;
  const std::string wrong =
      ordered ? recheck::check_commit_order(reading, predicates, verdict.level, verdict.order)
              : recheck::replay(reading, verdict.level, certificate.clock_drift, schedule);
  return wrong.empty() ? recheck::compare_predicates(reading, predicates, verdict.level, schedule)
                       : wrong;
}

std::string check_anomalies(const Reading& reading, const PredicateReads& predicates,
                            const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  const bool refuted = !verdict.refutation.steps.empty();
  if (verdict.anomalies.empty() && !refuted) return "it names no violation";
  const Flaws flaws(reading, predicates);
  const Cycles cycles(reading, predicates, verdict.level, certificate.clock_drift);
  for (const Anomaly& anomaly : verdict.anomalies) {
    if (anomaly.kind == AnomalyKind::ContradictoryOrder) continue;  // That is the refutation.
    if (anomaly.kind == AnomalyKind::NonRepeatableRead && verdict.level == Level::ReadCommitted) {
      return "read committed does not forbid non-repeatable reads";
    }
    if (!is_plain(anomaly.kind) && anomaly.kind > AnomalyKind::ContradictoryOrder) {
      return "its anomalies are of timestamps";
    }
    std::string wrong =
        is_plain(anomaly.kind) ? flaws.complaint(anomaly) : cycles.complaint(anomaly.edges, {}, {});
    if (!wrong.empty()) return wrong;
  }
  const bool promised =
      std::any_of(verdict.anomalies.begin(), verdict.anomalies.end(),
                  [](const Anomaly& a) { return a.kind == AnomalyKind::ContradictoryOrder; });
  if (!refuted) return promised ? "its refutation is missing" : "";
  if (recheck::rules_of(verdict.level).family == Family::Weak) {
    return "its level leaves nothing to choose";
  }
  return recheck::complaint(verdict.refutation, cycles);
}

}  // namespace

Result<Certification> certify(const History& history, const Certificate& certificate) {
  std::string wrong = check_header(history, certificate);
  if (!wrong.empty()) return Certification{false, std::move(wrong)};
  if (certificate.verdict.evidence == Evidence::Timestamps) {
    wrong = certificate.verdict.outcome == Outcome::Holds
                ? recheck::check_timestamp_order(history, certificate)
                : recheck::check_timestamp_anomalies(history, certificate);
    return Certification{wrong.empty(), std::move(wrong)};
  }
  const auto reading = Reading::of(history, certificate.verdict.evidence);
  if (!reading.ok()) return reading.error();
  if (certificate.verdict.outcome == Outcome::Violated && reading->is_unclear()) {
    return Certification{false, "a scan did not list what may be deleted or never have been there"};
  }
  const PredicateReads predicates(*reading);
  wrong = certificate.verdict.outcome == Outcome::Holds
              ? check_order(*reading, predicates, certificate)
              : check_anomalies(*reading, predicates, certificate);
  return Certification{wrong.empty(), std::move(wrong)};
}

}  // namespace ouro
