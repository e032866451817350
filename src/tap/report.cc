// What a tap found, in words; and which question to ask about it.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "format/json_tree.h"
#include "ouro/format.h"
#include "ouro/tap.h"

namespace ouro {
namespace {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

TapQuestion promised(const TapReport& report) {
  // At read committed each statement has a snapshot; transactions that read by one statement at
  // most are no different from those of the levels above.
  if (report.without_start > 0) return {Level::ReadCommitted, Evidence::Versions};
  const bool all_serializable =
      report.serializable > 0 && report.serializable == report.txns && report.others == 0;
  // Its serializable transactions need not be in the order of their commits.
  if (all_serializable) return {Level::Serializable, Evidence::Versions};
  return {Level::Si, evidence_for(report, Level::Si)};
}

Evidence evidence_for(const TapReport& report, Level level) {
  const bool ordered = report.without_start == 0 && decidable(level, Evidence::Timestamps) &&
                       !implies(level, Level::Serializable);
  return ordered ? Evidence::Timestamps : Evidence::Versions;
}

std::string describe(const TapReport& report) {
  std::string out = fmt::format(
      "{}: {} connections, {} transactions ({} read committed, {} repeatable read, {} "
      "serializable, {} single statements), {} rolled back",
      report.server, with_commas(report.connections), with_commas(report.txns),
      with_commas(report.read_committed), with_commas(report.repeatable_read),
      with_commas(report.serializable), with_commas(report.automatic),
      with_commas(report.rolled_back));
  if (report.others > 0) {
    out += fmt::format("; {} more of which only the log tells", with_commas(report.others));
  }
  out += '\n';
  const std::uint64_t reads = report.judged + report.not_judged;
  if (reads > 0) {
    // Rounded down: 100 % means all.
    out += fmt::format("{} % of {} reads judged", report.judged * 100 / reads, with_commas(reads));
    if (report.not_judged > 0) out += "; not judged:";
    out += '\n';
  }
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, report.reasons.size()); ++i) {
    const TapReport::NotJudged& reason = report.reasons[i];
    out +=
        fmt::format("  {:>6}  {}: {}\n", with_commas(reason.count), reason.why, reason.statement);
  }
  if (report.reasons.size() > kShown) {
    out += fmt::format("          … and {} more kinds\n", report.reasons.size() - kShown);
  }
  for (const std::string& note : report.notes) out += fmt::format("note: {}\n", note);
  return out;
}

std::string describe_statements(const std::string& statements, const std::string& counterexample) {
  const auto history = read_history(counterexample);
  std::ifstream in(statements, std::ios::binary);
  if (!history.ok() || !in) return "";
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < history->txn_count(); ++i) {
    const Value name = history->txn_name(TxnId{static_cast<std::uint32_t>(i)});
    wanted.insert(name.kind() == ValueKind::Text ? std::string(history->string(name))
                                                 : history->text(name));
  }
  std::string out, line;
  JsonTree json;
  while (std::getline(in, line)) {
    if (!json.parse(line)) continue;
    const JsonTree::Node root = json.root();
    const std::string id(root.member("id").text().value_or(""));
    if (!wanted.contains(id) || !root.member("sql").is_list()) continue;
    out += fmt::format("  {} ({}, {}):\n", id, root.member("application").text().value_or(""),
                       root.member("isolation").text().value_or(""));
    root.member("sql").for_each(
        [&](JsonTree::Node sql) { out += fmt::format("    {}\n", sql.text().value_or("")); });
  }
  return out;
}

}  // namespace ouro
