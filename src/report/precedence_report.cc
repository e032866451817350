// Tells whether, and why, one transaction must precede another.

#include <fmt/format.h>

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/report.h"
#include "report/narrator.h"
#include "report/notation.h"

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

// "begin T1, commit T2, …": the order of the two, and how many stand before and between.
std::string both_in_order(const Narrator& narrator, const Precedence& answer, TxnId first,
                          TxnId second) {
  const bool begins = std::any_of(answer.order.begin(), answer.order.end(),
                                  [](const Event& event) { return !event.commit; });
  std::string out;
  std::size_t others = 0;
  const auto note_others = [&] {
    if (others > 0) out += fmt::format("{}… {}", out.empty() ? "" : ", ", counted(others, "other"));
    others = 0;
  };
  for (const Event& event : answer.order) {
    if (event.txn != first && event.txn != second) {
      others += event.commit ? 1 : 0;
      continue;
    }
    note_others();
    out +=
        fmt::format("{}{}{}", out.empty() ? "" : ", ",
                    begins ? (event.commit ? "commit " : "begin ") : "", narrator.label(event.txn));
  }
  note_others();
  return out;
}

}  // namespace

std::string describe(const History& history, Level asked, TxnId first, TxnId second,
                     const Precedence& answer, const Precedence* other) {
  const Level level = answer.level;
  const Story story = with_both(answer.story, first, second);
  const Narrator narrator(history, story);
  const std::string_view at = info(level).name;
  const auto aborted = [&](TxnId txn) { return history.status(txn) == TxnStatus::Aborted; };
  std::string out;
  std::string instead;
  if (level != asked) {
    instead = fmt::format("The history violates {}, so the answer is about {}, which it keeps.\n",
                          info(asked).name, at);
  }
  switch (answer.answer) {
    case Precedence::Answer::Violated:
      out =
          fmt::format("The history violates {} and every other level: no order explains it.\n", at);
      if (!answer.story.txns.empty()) {
        out += fmt::format("{}: {}\n\n", name(answer.story), narrator.in_short());
        for (const std::string& line : narrator.cast()) out += fmt::format("  {}\n", line);
        const std::vector<std::string> proof = narrator.proof();
        if (!proof.empty()) out += '\n';
        for (const std::string& line : proof) out += fmt::format("  {}\n", line);
      }
      return out;
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
  } else if (other != nullptr && !answer.order.empty() && !other->order.empty()) {
    out += fmt::format("\n  One way: {}.\n  Another: {}.\n",
                       both_in_order(narrator, *other, first, second),
                       both_in_order(narrator, answer, first, second));
  }
  return instead + out;
}

}  // namespace ouro
