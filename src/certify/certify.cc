// Decides whether a certificate proves what it claims.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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

// What is wrong with a certificate before its proof is looked at, or "".
std::string check_header(const History& history, const Certificate& certificate) {
  if (certificate.txns != history.txn_count() || certificate.ops != history.op_count() ||
      certificate.fingerprint != fingerprint(history)) {
    return "it is about another history";
  }
  const Evidence evidence = certificate.verdict.evidence;
  if (certificate.clock_drift < 0) return "its clock drift is negative";
  const recheck::Rules rules = recheck::rules_of(certificate.verdict.level);
  const bool strong =
      (rules.family == Family::Snapshot && !rules.lost_updates) || rules.family == Family::Serial;
  const bool observed_only = rules.family == Family::Mixed;
  if ((evidence == Evidence::Timestamps && (!strong || rules.phantoms)) ||
      (evidence != Evidence::Observed && observed_only)) {
    return "there are no certificates of its level";
  }
  return certificate.verdict.outcome == Outcome::Undecided ? "it is undecided" : "";
}

// What is wrong with the order or schedule of a level that holds, or "".
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
  const auto unplaced = predicates.unplaced();
  const bool observed = verdict.evidence == Evidence::Observed;
  if (observed && !unplaced.empty() && (family == Family::Parallel || family == Family::Weak)) {
    // No order says what these reads saw. Either all sources do, or the schedule is one of
    // session-si, which implies the level.
    Certificate stronger = certificate;
    stronger.verdict.level = Level::SessionSi;
    if (stronger.verdict.schedule.empty()) stronger.verdict.schedule = serial;
    const std::string wrong = check_order(reading, predicates, stronger);
    if (wrong.empty()) return "";
    // If all rows of all reads are told, or nobody wrote others, the sources say all.
    if (predicates.first_untold().valid()) return wrong;
    return recheck::check_commit_order(reading, predicates, verdict.level, verdict.order);
  }
  if (family == Family::Parallel && !unplaced.empty()) {
    // No order says what these reads saw. Either their results do, or the schedule is one of
    // session-si, which implies the level.
    const auto open = std::find_if(unplaced.begin(), unplaced.end(), [&](OpId read) {
      return !predicates.is_settled_read(read) || predicates.is_impossible(read);
    });
    Certificate stronger = certificate;
    stronger.verdict.level = Level::SessionSi;
    if (stronger.verdict.schedule.empty()) stronger.verdict.schedule = serial;
    const std::string wrong = check_order(reading, predicates, stronger);
    if (wrong.empty() || open != unplaced.end()) return wrong;
  }
  const bool ordered = family == Family::Weak || family == Family::Parallel;
  const std::string wrong =
      ordered ? recheck::check_commit_order(reading, predicates, verdict.level, verdict.order)
              : recheck::replay(reading, verdict.level, certificate.clock_drift, schedule);
  return wrong.empty() ? recheck::compare_predicates(reading, predicates, verdict.level, schedule)
                       : wrong;
}

// The level that all transactions that count state; nothing if they differ.
std::optional<Level> one_level(const Reading& reading) {
  std::optional<Level> out;
  const History& h = reading.history();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (!reading.counts(TxnId{t})) continue;
    const Level level = h.level(TxnId{t}).value_or(Level::Serializable);
    if (out && *out != level) return std::nullopt;
    out = level;
  }
  return out;
}

// Whether the level of some transaction that counts has sessions.
bool asks_for_sessions(const Reading& reading) {
  const History& h = reading.history();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (reading.counts(TxnId{t}) && recheck::rules_of(h, Level::Mixed, TxnId{t}).sessions) {
      return true;
    }
  }
  return false;
}

// The same for a history whose transactions have levels of their own.
//
// Predicate reads either saw what is there when their transactions begin, if all transactions read
// so; or their sources say of every row which version they saw.
std::string check_mixed(const Reading& reading, const PredicateReads& predicates,
                        const Certificate& certificate) {
  if (const auto same = one_level(reading)) {
    Certificate plain = certificate;
    plain.verdict.level = *same;
    plain.verdict.order.clear();
    for (const Event& event : certificate.verdict.schedule) {
      if (event.commit) plain.verdict.order.push_back(event.txn);
    }
    return check_order(reading, predicates, plain);
  }
  const Verdict& verdict = certificate.verdict;
  const std::string flaw = Flaws(reading, predicates).first_forbidden(verdict.level);
  if (!flaw.empty()) return "the history is wrong in plain sight: " + flaw;
  std::string wrong =
      recheck::check_mixed_order(reading, certificate.clock_drift, verdict.schedule);
  if (!wrong.empty() || !predicates.first_untold().valid()) return wrong;
  const Level snapshots = asks_for_sessions(reading) ? Level::SessionSi : Level::Si;
  wrong = recheck::replay(reading, snapshots, 0, verdict.schedule);
  if (!wrong.empty()) return wrong;
  return recheck::compare_predicates(reading, predicates, snapshots, verdict.schedule);
}

// Checks parts of the proof of a violation, if predicate reads saw the database at one given
// moment.
class Grounds {
 public:
  Grounds(const Reading& reading, const PredicateReads& predicates, const Certificate& certificate)
      : level_(certificate.verdict.level),
        flaws_(reading, predicates),
        cycles_(reading, predicates, level_, certificate.clock_drift) {}

  // Whether that moment gives what predicate reads returned.
  [[nodiscard]] bool is_possible() const { return flaws_.results_fit(); }

  [[nodiscard]] std::string complaint(const Anomaly& anomaly) const {
    switch (info(anomaly.kind).sign) {
      case AnomalySign::Operations:
      case AnomalySign::VersionOrders:
        return flaws_.complaint(anomaly, level_);
      case AnomalySign::Cycle:
        return cycles_.complaint(anomaly.edges, {}, {});
      case AnomalySign::Contradiction:
        return "its contradiction is no refutation";
      case AnomalySign::Timestamps:
        break;
    }
    return "its anomalies are of timestamps";
  }
  [[nodiscard]] std::string complaint(const Refutation& refutation) const {
    if (recheck::rules_of(level_).family == Family::Weak) {
      return "its level leaves nothing to choose";
    }
    return recheck::complaint(refutation, cycles_);
  }

 private:
  const Level level_;
  const Flaws flaws_;
  const Cycles cycles_;
};

// Every part of the proof of a violation must be right at some moment, and every moment must have
// such a part: then the level is violated whatever moment predicate reads saw.
class Proofs {
 public:
  explicit Proofs(std::span<const std::unique_ptr<Grounds>> moments)
      : moments_(moments), proven_(moments.size(), false) {}

  // What is wrong with an anomaly or a refutation, or "".
  template <class Part>
  [[nodiscard]] std::string add(const Part& part) {
    std::string wrong;
    bool right = false;
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      const std::string complaint = moments_[i]->complaint(part);
      if (complaint.empty()) right = proven_[i] = true;
      if (wrong.empty()) wrong = complaint;
    }
    return right ? "" : wrong;
  }
  [[nodiscard]] bool complete() const {
    return std::find(proven_.begin(), proven_.end(), false) == proven_.end();
  }

 private:
  std::span<const std::unique_ptr<Grounds>> moments_;
  std::vector<bool> proven_;
};

// What is wrong with the proof of a violation, or "". `seeings` are the predicate reads at each
// moment that they may have seen; moments that do not give what they returned are left out.
std::string check_anomalies(const Reading& reading, std::span<const PredicateReads> seeings,
                            const Certificate& certificate) {
  const Verdict& verdict = certificate.verdict;
  const bool refuted = !verdict.refutation.steps.empty();
  if (verdict.anomalies.empty() && !refuted) return "it names no violation";
  std::vector<std::unique_ptr<Grounds>> moments;
  for (const PredicateReads& predicates : seeings) {
    moments.push_back(std::make_unique<Grounds>(reading, predicates, certificate));
  }
  const auto impossible = [](const auto& grounds) { return !grounds->is_possible(); };
  if (std::all_of(moments.begin(), moments.end(), impossible)) {
    moments.resize(1);
  } else {
    std::erase_if(moments, impossible);
  }
  Proofs proofs(moments);
  bool promised = false;
  for (const Anomaly& anomaly : verdict.anomalies) {
    const bool contradiction = info(anomaly.kind).sign == AnomalySign::Contradiction;
    promised |= contradiction;  // Its proof is the refutation.
    if (contradiction) continue;
    if (std::string wrong = proofs.add(anomaly); !wrong.empty()) return wrong;
  }
  if (promised && !refuted) return "its refutation is missing";
  if (refuted) {
    if (std::string wrong = proofs.add(verdict.refutation); !wrong.empty()) return wrong;
  }
  return proofs.complete() ? ""
                           : "predicate reads may have seen what was committed when their "
                             "transactions committed, and it does not say what is wrong then";
}

// ---- keys that selects and aggregates do not tell of ----

// What is wrong with Verdict::untold, or "".
std::string check_untold(const History& h, const Certificate& certificate) {
  const auto& untold = certificate.verdict.untold;
  if (untold.empty()) return "";
  if (certificate.verdict.evidence != Evidence::Observed) return "its evidence tells of all keys";
  for (std::size_t i = 0; i < untold.size(); ++i) {
    const OpId read = untold[i].read;
    const KeyId key = untold[i].key;
    if (i > 0 && untold[i] <= untold[i - 1]) return "keys that are not told of are out of order";
    if (read.index() >= h.op_count() || key.index() >= h.key_count()) {
      return "it is about a read or a key that the history does not have";
    }
    const Op op = h.op(read);
    if (!is_predicate_read(op.kind)) return "a read tells of its key";
    const PredicateRead& details = h.predicate_read(read);
    const bool scan = op.kind == OpKind::Scan;
    if (scan && details.has_version_set) return "a scan tells of its keys, as it has a version set";
    const auto rows = h.rows(details);
    const bool returned = std::any_of(rows.begin(), rows.end(), [&](const KeyVersion& row) {
      return row.key == key && !(scan && row.value.is_null());
    });
    if (returned) return "a read tells of a key, as it returned it";
    if (scan && !recheck::in_range(h, details, key)) return "a key is not in the range of its scan";
  }
  return "";
}

// ---- open reads ----

// What is wrong with `sources`, which say what some of them read, or "".
std::string check_sources(const Reading& reading, std::span<const ReadSource> sources) {
  for (const ReadSource& said : sources) {
    if (said.element != 0) {
      const auto possible = reading.candidates(said.read, said.key, said.element);
      if (possible.empty()) return "it says who appended an element that tells so itself";
      if (std::find(possible.begin(), possible.end(), said.writer) == possible.end()) {
        return "it says that somebody appended an element who cannot have done so";
      }
      continue;
    }
    const recheck::AccessId read = reading.read_of(said.read, said.key);
    if (read == recheck::kNoAccess || !reading.is_open(read)) {
      return "it says what a read returned that tells so itself";
    }
    if (!reading.is_candidate(read, said.writer)) {
      return "it says that an open read returned what it cannot have returned";
    }
  }
  return "";
}

// Checks that cases leave out nothing, and that each is refuted. Cases are the leaves of a tree:
// each inner node is about one more read, and has a child for each version that it may have
// returned.
class SourceTree {
 public:
  SourceTree(const History& history, const Certificate& certificate, const Reading& reading,
             Reading::ScanKeys scan_keys)
      : h_(history), certificate_(certificate), reading_(reading), scan_keys_(scan_keys) {}

  std::string check() {
    pending_.push_back({0, certificate_.verdict.cases.size(), 0});
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      if (std::string wrong = check(node); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Node {  // The cases from `first` to `end`, which agree in `depth` sources.
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };

  std::string check(const Node& node) {
    const auto& cases = certificate_.verdict.cases;
    if (node.end - node.first == 1 && cases[node.first].sources.size() == node.depth) {
      return check_case(cases[node.first]);
    }
    std::vector<TxnId> tried;
    const auto& sources = cases[node.first].sources;
    const ReadSource about = sources.size() > node.depth ? sources[node.depth] : ReadSource{};
    for (std::size_t i = node.first; i < node.end;) {
      std::size_t end = i;
      for (; end < node.end; ++end) {
        const auto& other = cases[end].sources;
        if (other.size() <= node.depth || other[node.depth].read != about.read ||
            other[node.depth].key != about.key || other[node.depth].element != about.element) {
          return "its cases are not about one open read after the other";
        }
        if (other[node.depth].writer != cases[i].sources[node.depth].writer) break;
      }
      tried.push_back(cases[i].sources[node.depth].writer);
      pending_.push_back({i, end, node.depth + 1});
      i = end;
    }
    std::vector<TxnId> all;
    if (about.element != 0) {
      all = reading_.candidates(about.read, about.key, about.element);
      if (all.empty()) return "a case is about an element that is not open";
    } else {
      const recheck::AccessId read = reading_.read_of(about.read, about.key);
      if (read == recheck::kNoAccess || !reading_.is_open(read)) {
        return "a case is about a read that is not open";
      }
      all = reading_.candidates(read);
    }
    std::sort(all.begin(), all.end());
    std::sort(tried.begin(), tried.end());
    return tried == all ? "" : "its cases leave out what an open read may have returned";
  }

  [[nodiscard]] std::string check_case(const SourceCase& each) const {
    const Verdict& whole = certificate_.verdict;
    const auto reading = Reading::of(h_, whole.evidence, each.sources, whole.untold, scan_keys_);
    if (!reading.ok()) return reading.error().what;
    std::vector<PredicateReads> seeings;
    for (const auto seeing : {PredicateReads::Seeing::Start, PredicateReads::Seeing::Commit}) {
      if (!seeings.emplace_back(*reading, seeing).depend_on_time()) break;
    }
    Certificate part;
    part.clock_drift = certificate_.clock_drift;
    part.verdict.level = whole.level;
    part.verdict.evidence = whole.evidence;
    part.verdict.anomalies = each.anomalies;
    part.verdict.refutation = each.refutation;
    return check_anomalies(*reading, seeings, part);
  }

  const History& h_;
  const Certificate& certificate_;
  const Reading& reading_;
  const Reading::ScanKeys scan_keys_;
  std::vector<Node> pending_;
};

// ---- predicate reads that do not say what they saw ----

// As SourceTree, for cases that are about such reads: each inner node asks whether one of them saw
// one version, and has a child for each answer.
class SightTree {
 public:
  SightTree(const Certificate& certificate, const Reading& reading)
      : certificate_(certificate), reading_(reading) {}

  std::string check() {
    pending_.push_back({0, certificate_.verdict.cases.size(), 0});
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      if (std::string wrong = check(node); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  struct Node {  // The cases from `first` to `end`, which agree in `depth` sights.
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t depth = 0;
  };

  std::string check(const Node& node) {
    const auto& cases = certificate_.verdict.cases;
    const auto& sights = cases[node.first].sights;
    if (node.end - node.first == 1 && sights.size() == node.depth) {
      return check_case(cases[node.first]);
    }
    if (sights.size() <= node.depth) return "a case is a part of another one";
    const ReadSight asked = sights[node.depth];
    std::size_t middle = node.end;
    for (std::size_t i = node.first; i < node.end; ++i) {
      const auto& others = cases[i].sights;
      if (!cases[i].sources.empty() || others.size() <= node.depth) {
        return "its cases are not about one version after the other";
      }
      const ReadSight& other = others[node.depth];
      if (other.read != asked.read || other.key != asked.key || other.writer != asked.writer) {
        return "its cases are not about one version after the other";
      }
      if (middle == node.end && other.seen != asked.seen) middle = i;
      if (middle < node.end && other.seen == asked.seen) return "its cases are out of order";
    }
    if (middle == node.end) return "its cases leave out that a read saw a version, or did not";
    pending_.push_back({node.first, middle, node.depth + 1});
    pending_.push_back({middle, node.end, node.depth + 1});
    return "";
  }

  [[nodiscard]] std::string check_case(const SourceCase& each) const {
    std::vector<PredicateReads> seeings;
    for (const auto seeing : {PredicateReads::Seeing::Start, PredicateReads::Seeing::Commit}) {
      if (!seeings.emplace_back(reading_, seeing, each.sights).depend_on_time()) break;
    }
    for (const ReadSight& sight : each.sights) {
      if (!seeings[0].makes_sense(sight))
        return "a case is not about a predicate read and a version";
    }
    Certificate part;
    part.clock_drift = certificate_.clock_drift;
    part.verdict.level = certificate_.verdict.level;
    part.verdict.evidence = certificate_.verdict.evidence;
    part.verdict.anomalies = each.anomalies;
    part.verdict.refutation = each.refutation;
    return check_anomalies(reading_, seeings, part);
  }

  const Certificate& certificate_;
  const Reading& reading_;
  std::vector<Node> pending_;
};

bool has_sights(const Certificate& certificate) {
  const auto& cases = certificate.verdict.cases;
  return std::any_of(cases.begin(), cases.end(),
                     [](const SourceCase& each) { return !each.sights.empty(); });
}

// Checks a certificate that does not rest on timestamps.
Result<Certification> certify_reads(const History& history, const Certificate& certificate,
                                    Reading::ScanKeys scan_keys) {
  const bool violated = certificate.verdict.outcome == Outcome::Violated;
  const Evidence evidence = certificate.verdict.evidence;
  const auto& untold = certificate.verdict.untold;
  for (std::size_t s = 0; s < history.session_count() && history.has_snos(); ++s) {
    const auto txns = history.session_txns(SessionId{s});
    if (std::is_sorted(txns.begin(), txns.end())) continue;
    return Certification{false, "transactions are not in the order of their sessions"};
  }
  std::string wrong = check_untold(history, certificate);
  if (!wrong.empty()) return Certification{false, std::move(wrong)};
  auto reading = Reading::of(history, evidence, {}, untold, scan_keys);
  if (!reading.ok()) return reading.error();
  for (const ReadKey& each : untold) {
    if (reading->is_list(each.key)) return Certification{false, "lists are no rows"};
    if (reading->is_counter_read(history.op(each.read))) {
      return Certification{false, "a read of a counter tells of its rows"};
    }
  }
  if (violated && !certificate.verdict.cases.empty()) {
    wrong = has_sights(certificate) ? SightTree(certificate, *reading).check()
                                    : SourceTree(history, certificate, *reading, scan_keys).check();
    return Certification{wrong.empty(), std::move(wrong)};
  }
  if (!certificate.verdict.sources.empty()) {
    wrong = check_sources(*reading, certificate.verdict.sources);
    if (!wrong.empty()) return Certification{false, std::move(wrong)};
    reading = Reading::of(history, evidence, certificate.verdict.sources, untold, scan_keys);
    if (!reading.ok()) return reading.error();
  }
  if (!violated && reading->has_open()) {
    return Certification{false, "it does not say what an open read returned"};
  }
  std::vector<PredicateReads> seeings;
  for (const auto seeing : {PredicateReads::Seeing::Start, PredicateReads::Seeing::Commit}) {
    const auto order = violated ? std::span<const TxnId>() : certificate.verdict.order;
    const PredicateReads& predicates =
        seeings.emplace_back(*reading, seeing, std::span<const ReadSight>(), order);
    if (!violated) {
      const bool mixed = recheck::rules_of(certificate.verdict.level).family == Family::Mixed;
      std::string complaint = mixed ? check_mixed(*reading, predicates, certificate)
                                    : check_order(*reading, predicates, certificate);
      if (complaint.empty()) return Certification{true, ""};
      if (wrong.empty()) wrong = std::move(complaint);
    }
    if (!predicates.depend_on_time()) break;
  }
  if (violated) wrong = check_anomalies(*reading, seeings, certificate);
  return Certification{wrong.empty(), std::move(wrong)};
}

}  // namespace

Result<Certification> certify(const History& history, const Certificate& certificate) {
  if (history.txn_count() == 0) {
    Error error;
    error.file = std::string(history.file());
    error.what = "there are no transactions, so there is nothing to certify";
    return error;
  }
  std::string wrong = check_header(history, certificate);
  if (!wrong.empty()) return Certification{false, std::move(wrong)};
  if (certificate.verdict.evidence == Evidence::Timestamps) {
    wrong = certificate.verdict.outcome == Outcome::Holds
                ? recheck::check_timestamp_order(history, certificate)
                : recheck::check_timestamp_anomalies(history, certificate);
    return Certification{wrong.empty(), std::move(wrong)};
  }
  // Without moments each scan is judged by all keys that it may have missed; unless the order is
  // one of a stronger level.
  const Family family = recheck::rules_of(certificate.verdict.level).family;
  const bool mixed = family == Family::Mixed;
  const bool by_sources = family == Family::Weak || family == Family::Parallel || mixed;
  if (by_sources && !mixed && certificate.verdict.outcome == Outcome::Violated) {
    return certify_reads(history, certificate, Reading::ScanKeys::All);
  }
  auto answer = certify_reads(history, certificate, Reading::ScanKeys::Untold);
  if (!by_sources || (answer.ok() && answer->accepted)) return answer;
  return certify_reads(history, certificate, Reading::ScanKeys::All);
}

}  // namespace ouro
