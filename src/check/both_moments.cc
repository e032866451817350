// Both verdicts may be trees of cases about what open reads returned (Verdict::cases). Then each
// case of the first is split into those cases of the second that agree with it, and has what is
// wrong in both.

#include "check/both_moments.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "check/versions/predicate_reads.h"
#include "history/access.h"

namespace ouro {
namespace {

// Whether an anomaly with snapshots at the start is one with snapshots at the commit, too. The
// later snapshot sees more, so only one kind of edge may be lost: from a predicate read without
// version set to a writer that it missed at the start and sees at the commit.
bool at_commit_too(const History& history, const Anomaly& anomaly) {
  if (anomaly.kind == AnomalyKind::ContradictoryOrder) return false;
  const SnapshotMoments moments(history, SnapshotAt::Commit);
  return std::none_of(anomaly.edges.begin(), anomaly.edges.end(), [&](const Edge& edge) {
    if (edge.kind != EdgeKind::ReadWrite || !edge.from_op.valid()) return false;
    if (!has_condition(history.op(edge.from_op).kind)) return false;
    return !history.predicate_read(edge.from_op).has_version_set &&
           moments.commit(edge.to) < moments.snapshot(edge.from);
  });
}

// A verdict without cases is one case, in which nothing is said about open reads.
std::vector<SourceCase> cases_of(Verdict verdict) {
  if (!verdict.cases.empty()) return std::move(verdict.cases);
  std::vector<SourceCase> out(1);
  out[0].anomalies = std::move(verdict.anomalies);
  out[0].refutation = std::move(verdict.refutation);
  return out;
}

// What both cases say, those of `first` in front; nothing if they contradict each other.
std::optional<std::vector<ReadSource>> said_by_both(const SourceCase& first,
                                                    const SourceCase& second) {
  std::vector<ReadSource> out = first.sources;
  for (const ReadSource& said : second.sources) {
    const auto known = std::find_if(out.begin(), out.end(), [&](const ReadSource& other) {
      return other.read == said.read && other.key == said.key;
    });
    if (known == out.end()) {
      out.push_back(said);
    } else if (known->writer != said.writer) {
      return std::nullopt;
    }
  }
  return out;
}

// Nothing if a case would need two refutations, there are too many cases, or they are about what
// predicate reads saw.
std::optional<std::vector<SourceCase>> cases_of_both(const History& history,
                                                     const std::vector<SourceCase>& at_start,
                                                     const std::vector<SourceCase>& at_commit) {
  constexpr std::size_t kMostCases = 10'000;
  std::vector<SourceCase> out;
  for (const SourceCase& one : at_start) {
    const bool enough = std::any_of(
        one.anomalies.begin(), one.anomalies.end(),
        [&](const Anomaly& anomaly) { return at_commit_too(history, anomaly); });
    if (!one.sights.empty() || out.size() > kMostCases) return std::nullopt;
    if (enough) {
      out.push_back(one);
      continue;
    }
    for (const SourceCase& other : at_commit) {
      auto sources = said_by_both(one, other);
      if (!sources) continue;
      const bool two = !one.refutation.steps.empty() && !other.refutation.steps.empty();
      if (two || !other.sights.empty()) return std::nullopt;
      SourceCase& both = out.emplace_back(one);
      both.sources = *std::move(sources);
      both.anomalies.insert(both.anomalies.end(), other.anomalies.begin(), other.anomalies.end());
      if (both.refutation.steps.empty()) both.refutation = other.refutation;
    }
  }
  return out;
}

}  // namespace

void prove_both(const History& history, Verdict& verdict, Verdict other) {
  const auto of_both =
      std::find_if(verdict.anomalies.begin(), verdict.anomalies.end(),
                   [&](const Anomaly& anomaly) { return at_commit_too(history, anomaly); });
  if (of_both != verdict.anomalies.end()) {
    std::rotate(verdict.anomalies.begin(), of_both, of_both + 1);
    return;
  }
  if (!verdict.cases.empty() || !other.cases.empty()) {
    const bool open = !verdict.cases.empty();
    auto cases = cases_of_both(history, cases_of(verdict), cases_of(other));
    if (!cases) {
      verdict = {.level = verdict.level, .evidence = verdict.evidence};
      verdict.reason =
          "what open reads returned and when predicate reads saw the database are open together";
      return;
    }
    if (!open) {  // The anomaly is about the cases.
      verdict.anomalies = std::move(other.anomalies);
      verdict.counts = other.counts;
    }
    verdict.refutation = {};
    verdict.cases = *std::move(cases);
    return;
  }
  if (!other.refutation.steps.empty()) verdict.refutation = std::move(other.refutation);
  if (other.anomalies.empty()) return;
  auto& count = verdict.counts[static_cast<std::size_t>(other.anomalies[0].kind)];
  if (count == 0) count = 1;
  verdict.anomalies.push_back(std::move(other.anomalies[0]));
}

}  // namespace ouro
