// Tells whether, and why, one transaction must precede another.

#include <fmt/format.h>

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/report.h"
#include "report/narrator.h"

namespace ouro {
namespace {

// The story with both transactions in its list, whether it needs them or not.
Story with_both(Story story, TxnId first, TxnId second) {
  for (const TxnId txn : {first, second}) {
    if (std::find(story.txns.begin(), story.txns.end(), txn) == story.txns.end()) {
      story.txns.push_back(txn);
    }
  }
  std::sort(story.txns.begin(), story.txns.end());
  return story;
}

void append_cases(std::string& out, const Narrator& narrator, const Story& story) {
  for (const Case& each : story.cases) {
    std::string indent = "  ";
    if (!each.given.empty()) {
      out += fmt::format("  {}\n", narrator.premise(each));
      indent = "    ";
    }
    if (each.cycle.empty()) continue;
    if (each.cycle.back().to == each.cycle.front().from) {
      for (const std::string& line : narrator.sentences(each.cycle)) out += indent + line + '\n';
      continue;
    }
    for (const Edge& edge : each.cycle) {
      out += fmt::format("{}{} < {}, because {}.\n", indent, narrator.label(edge.from),
                         narrator.label(edge.to), narrator.because(edge));
    }
  }
}

// What it means at this level that neither transaction must precede the other.
std::string_view open_phrase(Level level) {
  const LevelRules& level_rules = rules(level);
  if (level_rules.is(LevelFamily::Parallel)) return "neither must see the other";
  if (level_rules.begins_apart() && !level_rules.lost_updates)
    return "neither must commit before the other begins";
  return "some orders that explain the history have the one first, some the other";
}

}  // namespace

std::string describe(const History& history, Level level, TxnId first, TxnId second,
                     const Precedence& answer) {
  const Story story = with_both(answer.story, first, second);
  const Narrator narrator(history, story);
  const std::string_view at = info(level).name;
  const auto aborted = [&](TxnId txn) { return history.status(txn) == TxnStatus::Aborted; };
  std::string out;
  switch (answer.answer) {
    case Precedence::Answer::Violated:
      return fmt::format("The history violates {}: no order explains it, see 'ouro check'.\n", at);
    case Precedence::Answer::Undecided:
      return "Undecided: a limit was reached.\n";
    case Precedence::Answer::Open:
      out = fmt::format(
          "{} and {}: open. At {}, {}.\n\n", narrator.label(first), narrator.label(second), at,
          aborted(first) || aborted(second) ? "no order has one that aborted" : open_phrase(level));
      break;
    case Precedence::Answer::Required:
      out = fmt::format("{} must precede {} at {}.\n\n", narrator.label(first),
                        narrator.label(second), at);
  }
  for (const std::string& line : narrator.cast()) out += fmt::format("  {}\n", line);
  if (answer.answer == Precedence::Answer::Required) {
    out += '\n';
    append_cases(out, narrator, story);
  }
  return out;
}

}  // namespace ouro
