// Findings of lint() as text and as JSON.

#include <fmt/format.h>

#include <array>

#include "ouro/report.h"
#include "ouro/version.h"
#include "report/json_writer.h"
#include "report/notation.h"

namespace ouro {
namespace {

std::array<std::uint64_t, 3> count_by_severity(std::span<const Finding> findings) {
  std::array<std::uint64_t, 3> counts{};
  for (const Finding& finding : findings) {
    ++counts[static_cast<std::size_t>(finding.rule->severity)];
  }
  return counts;
}

std::string summary(std::span<const Finding> findings) {
  std::string out;
  const auto counts = count_by_severity(findings);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    out += (out.empty() ? "" : ", ") + counted(counts[i], name(static_cast<Severity>(i)));
  }
  return out.empty() ? "nothing to complain about" : out;
}

std::string severity_word(Severity severity, bool colour) {
  constexpr std::string_view kColours[] = {"\033[1;31m", "\033[1;33m", "\033[1m"};
  if (!colour) return std::string(name(severity));
  return fmt::format("{}{}\033[0m", kColours[static_cast<std::size_t>(severity)], name(severity));
}

}  // namespace

std::string describe(const History& history, std::span<const Finding> findings,
                     const ReportOptions& options) {
  std::string out = fmt::format("{}: {}\n", name_or_file(history, options.name), summary(findings));
  for (const Finding& finding : findings) {
    out += fmt::format("\n  {} {}: {}", severity_word(finding.rule->severity, options.colour),
                       finding.rule->id, finding.rule->what);
    out += finding.count == 1 ? "\n" : fmt::format(" ({} times)\n", grouped(finding.count));
    for (const LintExample& example : finding.examples) {
      out += example.place.empty() ? fmt::format("    {}\n", example.what)
                                   : fmt::format("    {}: {}\n", example.place, example.what);
    }
    if (finding.count > finding.examples.size()) {
      out += fmt::format("    … and {} more\n", grouped(finding.count - finding.examples.size()));
    }
    out += fmt::format("    Advice: {}.\n", finding.rule->advice);
  }
  return out;
}

std::string to_json(const History& history, std::span<const Finding> findings,
                    const ReportOptions& options) {
  JsonWriter json;
  json.begin_object().member("history", name_or_file(history, options.name));
  const auto counts = count_by_severity(findings);
  json.member("errors", counts[0]).member("warnings", counts[1]).member("notes", counts[2]);
  json.key("findings").begin_array();
  for (const Finding& finding : findings) {
    json.begin_object().member("id", finding.rule->id);
    json.member("severity", name(finding.rule->severity)).member("what", finding.rule->what);
    json.member("advice", finding.rule->advice).member("count", finding.count);
    json.key("examples").begin_array();
    for (const LintExample& example : finding.examples) {
      json.begin_object();
      if (example.txn.valid()) json.member("transaction", example.txn.value);
      json.member("place", std::string_view(example.place));
      json.member("what", std::string_view(example.what)).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().member("schema", 1).member("version", version()).end_object();
  return std::move(json).finish();
}

}  // namespace ouro
