// Verdicts in the form of Elle's results (EDN), for tools that read those.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/elle_models.h"
#include "ouro/elle.h"
#include "ouro/forms.h"
#include "ouro/report.h"
#include "report/edn_anomalies.h"
#include "report/edn_ops.h"
#include "report/elle_findings.h"
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
  const EdnExamples anomalies = edn_examples(ops, report.explanations);
  std::string types, maps;
  for (const auto& [type, examples] : anomalies) {
    types += fmt::format("{}:{}", types.empty() ? "" : " ", type);
    maps += fmt::format("{}:{} [{}]", maps.empty() ? "" : ", ", type, examples);
  }
  std::string out = fmt::format("{{:valid? {}", kValid[static_cast<std::size_t>(outcome)]);
  if (outcome == Outcome::Violated) {
    const ElleBoundary models = ruled_out(history, report, anomalies);
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
