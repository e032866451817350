// Verdicts in the form of Elle's results (EDN), for tools that read those.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/elle_models.h"
#include "base/level_rules.h"
#include "check/implied.h"
#include "ouro/elle.h"
#include "ouro/forms.h"
#include "ouro/report.h"
#include "report/edn_anomalies.h"
#include "report/edn_ops.h"
#include "report/json_writer.h"
#include "report/narrator.h"
#include "report/telling.h"

namespace ouro {
namespace {

std::string set_of(std::span<const std::string_view> models) {
  std::string out = "#{";
  for (const std::string_view model : models) {
    out += fmt::format("{}:{}", out.size() > 2 ? " " : "", model);
  }
  return out + '}';
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
      models_.insert(stronger.level == Level::ReadCommitted ? "monotonic-view" : row.elle);
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

// Why nothing is known; "" if something is.
std::string reason_of(std::span<const Verdict> verdicts) {
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Undecided) return verdict.reason;
  }
  return {};
}

// The names of files go with the types of anomalies, and the stories with both.
std::map<std::string, std::vector<const Story*>> stories_by_type(
    const History& history, std::span<const Explanation> explanations) {
  const EdnOps ops(history, nullptr);
  std::map<std::string, std::vector<const Story*>> out;
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) {
      for (const EdnAnomaly& anomaly : edn_anomalies(ops, story)) {
        out[anomaly.type].push_back(&story);
      }
    }
  }
  return out;
}

std::string text_of(const History& history, std::span<const Story* const> stories) {
  std::string out;
  for (const Story* story : stories) {
    const Narrator narrator(history, *story);
    out += fmt::format("{}{} (violates {})\n\n", out.empty() ? "" : "\n\n", name(*story),
                       info(story->level).name);
    for (const std::string& line : narrator.cast()) out += "  " + line + '\n';
    out += "\n  " + narrator.in_short() + '\n';
    if (!narrator.has_proof()) continue;
    out += '\n';
    for (const std::string& line : narrator.lines()) out += "  " + line + '\n';
  }
  return valid_utf8(std::move(out));
}

}  // namespace

std::string to_edn(const History& history, const ElleReport& report) {
  constexpr std::string_view kValid[] = {"true", "false", ":unknown"};
  const Outcome outcome = report.outcome.value_or(worst(report.verdicts));
  const EdnOps ops(history, report.lines);
  std::map<std::string, std::string> anomalies;
  for (const Explanation& explanation : report.explanations) {
    for (const Story& story : explanation.stories) {
      for (const EdnAnomaly& anomaly : edn_anomalies(ops, story)) {
        std::string& examples = anomalies[anomaly.type];
        examples += (examples.empty() ? "" : " ") + anomaly.map;
      }
    }
  }
  std::string types, maps;
  ElleFindings findings{.anomalies = {}, .models = violated_models(history, report)};
  for (const auto& [type, examples] : anomalies) {
    types += fmt::format("{}:{}", types.empty() ? "" : " ", type);
    maps += fmt::format("{}:{} [{}]", maps.empty() ? "" : ", ", type, examples);
    findings.anomalies.push_back(type);
  }
  std::string out = fmt::format("{{:valid? {}", kValid[static_cast<std::size_t>(outcome)]);
  if (outcome == Outcome::Violated) {
    const ElleBoundary models = boundary(findings);
    out += fmt::format(", :anomaly-types ({}), :anomalies {{{}}}, :not {}, :also-not {}", types,
                       maps, set_of(models.weakest), set_of(models.stronger));
  }
  const std::string left = describe(left_out_of(report.verdicts));
  if (!left.empty()) out += ", :ouro/left-out " + edn_string(left);
  const std::string reason = reason_of(report.verdicts);
  if (!reason.empty()) out += ", :ouro/undecided " + edn_string(reason);
  return valid_utf8(out + "}\n");
}

std::vector<ElleFile> elle_files(const History& history,
                                 std::span<const Explanation> explanations) {
  std::vector<ElleFile> out;
  for (const auto& [type, stories] : stories_by_type(history, explanations)) {
    out.push_back({type + ".txt", text_of(history, stories)});
    for (std::size_t i = 0; i < stories.size(); ++i) {
      const Explanation one{.level = stories[i]->level, .stories = {*stories[i]}, .complete = true};
      out.push_back({fmt::format("{}/{}.dot", type, i), to_dot(history, {&one, 1})});
    }
  }
  return out;
}

}  // namespace ouro
