#include "report/elle_findings.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "base/level_rules.h"
#include "check/implied.h"
#include "report/edn_anomalies.h"
#include "report/telling.h"

namespace ouro {
namespace {

// What Elle's lattice has for the level; "" if nothing.
std::string_view same_model(Level level) {
  return level == Level::ReadCommitted ? "monotonic-view" : row_of(level).elle;
}

// Whether no two of the transactions are of one session, so that session order says nothing.
bool are_apart(const History& history, std::span<const TxnId> txns) {
  std::set<std::uint32_t> sessions;
  for (const TxnId txn : txns) {
    if (txn.valid() && !sessions.insert(history.session(txn).value).second) return false;
  }
  return true;
}

// The models of Elle's that the levels at which something is violated are. Sessions count at our
// levels below si and not at Elle's models of the same name, so there the story must show that they
// do not matter. At read-committed ours is monotonic-view; what violates Elle's read-committed,
// too, is an anomaly that says so itself.
class ViolatedModels {
 public:
  explicit ViolatedModels(const History& history) : history_(history) {}

  void add(Level level, Evidence evidence, bool without_sessions) {
    for (const LevelInfo& stronger : levels()) {
      if (!implied_in(history_, stronger.level, level, evidence)) continue;
      const LevelRow& row = row_of(stronger.level);
      const bool asks_more = row.rules.sessions && !row.elle.starts_with("strong-");
      if (row.elle.empty() || (asks_more && !without_sessions)) continue;
      models_.insert(same_model(stronger.level));
    }
  }

  [[nodiscard]] std::vector<std::string_view> models() const {
    return {models_.begin(), models_.end()};
  }

 private:
  const History& history_;
  std::set<std::string_view> models_;
};

std::vector<std::string_view> violated_models(const History& history, const ElleReport& report) {
  ViolatedModels out(history);
  for (const Verdict& verdict : known_levels(report.verdicts, report.others, report.explanations)) {
    if (verdict.outcome == Outcome::Violated && verdict.level != Level::Mixed) {
      out.add(verdict.level, verdict.evidence, false);
    }
  }
  for (const Explanation& explanation : report.explanations) {
    for (const Story& story : explanation.stories) {
      const bool apart = story.variant == Variant::None && are_apart(history, story.txns);
      for (const Level level : story.weakest_violated) out.add(level, story.evidence, apart);
    }
  }
  return out.models();
}

}  // namespace

EdnExamples edn_examples(const EdnOps& ops, std::span<const Explanation> explanations) {
  EdnExamples out;
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      for (const EdnAnomaly& anomaly : edn_anomalies(ops, story)) {
        std::string& examples = out[anomaly.type];
        examples += (examples.empty() ? "" : " ") + anomaly.map;
      }
    }
  }
  return out;
}

ElleBoundary ruled_out(const History& history, const ElleReport& report,
                       const EdnExamples& examples) {
  ElleFindings findings{.anomalies = {}, .models = violated_models(history, report)};
  for (const auto& [type, maps] : examples) findings.anomalies.push_back(type);
  return boundary(findings);
}

AskedModels take_models(std::string_view names) {
  AskedModels out;
  for (;;) {
    const std::size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    const std::string_view model = find_level(name) ? std::string_view() : find_elle_model(name);
    if (model.empty()) {
      out.others.append(out.others.empty() ? "" : ",").append(name);
    } else {
      out.models.push_back(model);
    }
    if (comma == names.size()) break;
    names.remove_prefix(comma + 1);
  }
  for (const LevelInfo& level : levels()) {
    const std::string_view same = row_of(level.level).elle;
    const bool helps =
        std::any_of(out.models.begin(), out.models.end(), [&](std::string_view model) {
          const auto weakest = weakest_implying(model);
          return std::find(weakest.begin(), weakest.end(), level.level) != weakest.end() ||
                 (!same.empty() && model_implies(model, same));
        });
    if (helps) out.levels.push_back(level.level);
  }
  return out;
}

Outcome outcome_of_model(const History& history, const ElleReport& report, std::string_view model) {
  for (const Verdict& verdict : known_levels(report.verdicts, report.others, report.explanations)) {
    if (verdict.outcome != Outcome::Holds || verdict.level == Level::Mixed) continue;
    const std::string_view same = same_model(verdict.level);
    if (!same.empty() && model_implies(same, model)) return Outcome::Holds;
  }
  const EdnOps ops(history, nullptr);
  const ElleBoundary out = ruled_out(history, report, edn_examples(ops, report.explanations));
  for (const auto* names : {&out.weakest, &out.stronger}) {
    if (std::find(names->begin(), names->end(), model) != names->end()) return Outcome::Violated;
  }
  return Outcome::Undecided;
}

}  // namespace ouro
