// Verdicts as text.

#include <fmt/format.h>

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/report.h"
#include "report/notation.h"
#include "report/telling.h"

namespace ouro {
namespace {

constexpr std::size_t kFewLevels = 5;  // More are shown as a lattice instead of a list.

std::string headline_of(const History& history, std::span<const Verdict> verdicts,
                        std::span<const Explanation> explanations, const ReportOptions& options) {
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : "; ") + part; };
  for (const Explanation& explanation : explanations) {
    add(judgement(verdict_at(verdicts, explanation.level), explanation, options.colour));
  }
  for (const std::string& open : undecided_by_reason(verdicts)) {
    add(outcome_word(Outcome::Undecided, options.colour) + ' ' + open);
  }
  if (const auto strongest = strongest_holding(verdicts); !strongest.empty()) {
    const std::vector<LeftOut> left = left_out_of(verdicts);
    // Levels that ask for real time are not among these if nothing is said about it, nor those that
    // ask for session order, unless there are no others.
    const bool sessions = std::any_of(strongest.begin(), strongest.end(),
                                      [](Level level) { return rules(level).sessions; });
    const bool whole = std::all_of(left.begin(), left.end(), [&](const LeftOut& one) {
      return one.all() && (one.kind == LeftOutKind::RealTime ||
                           (one.kind == LeftOutKind::Sessions && !sessions));
    });
    add(outcome_word(Outcome::Holds, options.colour) + ' ' + level_list(strongest) +
        evidence_text(verdicts.front()) + (whole ? "" : " as far as was checked") +
        (left.empty() ? "" : fmt::format(" ({})", describe(left))));
  }
  return fmt::format("{}: {}\n", name_or_file(history, options.name), parts);
}

// A line for each level.
std::string table_of(std::span<const Verdict> verdicts, bool colour) {
  std::string out = "\n";
  for (const Verdict& verdict : verdicts) {
    const std::size_t plain = outcome_word(verdict.outcome, false).size();
    out += fmt::format("  {}{:{}}  {}\n", outcome_word(verdict.outcome, colour), "", 9 - plain,
                       info(verdict.level).name);
  }
  return out;
}

// "Needs --evidence observed: read-committed, read-atomic."
void append_unsupported(std::string& out, std::span<const Level> unsupported, Evidence evidence) {
  for (const Evidence other : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    std::vector<Level> levels;
    for (const Level level : unsupported) {
      if (other_evidence(level, evidence) == other) levels.push_back(level);
    }
    if (levels.empty()) continue;
    out += fmt::format("  Needs --evidence {}: {}.\n", name(other), level_list(levels));
  }
}

// Appends which level the database gave: the strongest that hold, or none, or that it is not known.
// `decided`: no level is undecided. REQUIRES: there are verdicts.
void append_gift(std::string& out, std::span<const Level> strongest, bool decided,
                 std::span<const Verdict> verdicts, const ReportOptions& options) {
  const std::string by = verdicts.empty() ? "" : evidence_text(verdicts.front());
  if (!strongest.empty()) {
    out += fmt::format("\n  The database gave{}: {}{}.", decided ? "" : " at least",
                       level_list(strongest), by);
  } else if (!decided) {
    out += "\n  Which level the database gave is not known.";
  } else {
    out += options.others.empty() ? "\n  The database gave none of these levels."
                                  : fmt::format("\n  The database gave no level{}.", by);
  }
}

// Answers the question behind a check: which level does this database give me?
void append_answer(std::string& out, std::span<const Verdict> verdicts,
                   std::span<const Explanation> explanations, const ReportOptions& options) {
  const std::vector<Verdict> known = known_levels(verdicts, options.others, explanations);
  const auto violated = weakest_violated(known);
  const bool decided = undecided(known).empty();
  append_gift(out, strongest_holding(known), decided, verdicts, options);
  const std::vector<LeftOut> left = left_out_of(known);
  if (!violated.empty()) {
    out += fmt::format("  Weakest level violated: {}.\n", level_list(violated));
  } else {
    out += decided && left.empty() ? "  No level is violated.\n"
                                   : "  No level is known to be violated.\n";
  }
  for (const std::string& open : undecided_by_reason(known)) {
    out += fmt::format("  Undecided: {}.\n", open);
  }
  if (!left.empty()) out += fmt::format("  Left out: {}.\n", describe(left));
  const Evidence evidence = verdicts.empty() ? Evidence::Observed : verdicts.front().evidence;
  append_unsupported(out, options.unsupported, evidence);
}

// Says so if a level that is violated in the order of timestamps or version orders holds in another
// order.
void append_other_order(std::string& out, const History& history, std::span<const Verdict> verdicts,
                        const ReportOptions& options) {
  if (options.observed != Outcome::Holds || worst(verdicts) != Outcome::Violated) return;
  const bool versions = verdicts.front().evidence == Evidence::Versions;
  const char* const order = versions ? "version orders" : "timestamps";
  const char* const told = versions ? "records say" : "clock says";
  const std::string keeps = verdicts.size() == 1
                                ? fmt::format("is {}", info(verdicts.front().level).name)
                                : "violates none of these levels";
  if (!history.has_predicate_reads()) {
    out += fmt::format(
        "\n  In another order than that of its {} the history {}: see --evidence\n"
        "  observed. But then the database did not do what its own {}.\n",
        order, keeps, told);
  } else {
    out += fmt::format(
        "\n  By the rows that came back, whatever predicates left out, the history {}\n"
        "  in another order than that of its {}: see --evidence observed. But then the database "
        "did\n"
        "  not do what its own {}.\n",
        keeps, order, told);
  }
}

}  // namespace

std::string headline(const History& history, const Verdict& verdict, const ReportOptions& options) {
  const Explanation explanation = explanation_of(verdict, options);
  return fmt::format("{}: {}\n", name_or_file(history, options.name),
                     judgement(verdict, explanation, options.colour));
}

std::string headline_start(const History& history, const Verdict& verdict,
                           const ReportOptions& options) {
  if (verdict.outcome != Outcome::Violated) return headline(history, verdict, options);
  return fmt::format("{}: {}", name_or_file(history, options.name),
                     plain_judgement(verdict, options.colour));
}

std::string describe(const History& history, const Verdict& verdict, const ReportOptions& options) {
  const Explanation explanation = explanation_of(verdict, options);
  std::string out = fmt::format("{}: {}\n", name_or_file(history, options.name),
                                judgement(verdict, explanation, options.colour));
  std::vector<const Story*> told;
  append_stories(out, history, verdict, explanation, told);
  append_other_order(out, history, {&verdict, 1}, options);
  if (!options.others.empty()) {
    append_answer(out, {&verdict, 1}, {&explanation, 1}, options);
  } else if (verdict.outcome == Outcome::Holds && has_stronger(verdict.level) && !options.whole) {
    out += "\n  Stronger levels were not asked; --level all names the strongest that hold.\n";
  }
  append_closing(out, history, options);
  return out;
}

std::string headline(const History& history, std::span<const Verdict> verdicts,
                     const ReportOptions& options) {
  const auto explanations = explanations_of_weakest(verdicts, options);
  return headline_of(history, settled(verdicts, explanations), explanations, options);
}

std::string describe(const History& history, std::span<const Verdict> asked,
                     const ReportOptions& options) {
  const auto explanations = explanations_of_weakest(asked, options);
  const std::vector<Verdict> verdicts = settled(asked, explanations);
  std::string out = headline_of(history, verdicts, explanations, options);
  out += verdicts.size() > kFewLevels ? marked_lattice(verdicts, options.colour)
                                      : table_of(verdicts, options.colour);
  append_answer(out, verdicts, explanations, options);
  std::vector<const Story*> told;
  for (const Explanation& explanation : explanations) {
    append_stories(out, history, verdict_at(verdicts, explanation.level), explanation, told);
  }
  append_other_order(out, history, verdicts, options);
  append_closing(out, history, options);
  return out;
}

}  // namespace ouro
