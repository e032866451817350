#include "report/telling.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

// What others call it: the id and the aliases, without its own name.
std::string other_names(const Story& story) {
  const PatternInfo& about = info(story.pattern);
  std::string out = id(story) == anchor(name(story)) ? std::string() : id(story);
  if (!about.aliases.empty()) out += fmt::format("{}{}", out.empty() ? "" : ", ", about.aliases);
  return out;
}

void append_story(std::string& out, const History& history, const Story& story) {
  const Narrator narrator(history, story);
  for (const std::string& line : narrator.cast()) out += fmt::format("  {}\n", line);
  out += '\n';
  for (const std::string& line : narrator.lines()) out += fmt::format("  {}\n", line);
  if (!story.minimal) out += "\n  Not proven minimal: fewer transactions may show it, too.\n";
  out += fmt::format("\n  Weakest level violated: {}.", level_list(story.weakest_violated));
  if (!story.strongest_holding.empty()) {
    out += fmt::format("  Strongest that allows it: {}.", level_list(story.strongest_holding));
  }
  const std::string others = other_names(story);
  out += fmt::format("\n  {}See docs/anomalies.md#{}.\n",
                     others.empty() ? "" : fmt::format("Also called {}. ", others),
                     anchor(info(story.pattern).name));
}

// How many violations of the kind are not among the stories that were told.
std::uint64_t untold(const Explanation& explanation, AnomalyKind kind) {
  std::uint64_t count = 0;
  std::uint64_t told = 0;
  for (const Story& story : explanation.stories) {
    if (story.kind != kind) continue;
    ++told;
    count = std::max(count, story.count);
  }
  return count > told ? count - told : 0;
}

}  // namespace

Explanation explanation_of(const History& history, const Verdict& verdict,
                           const ReportOptions& options) {
  for (const Explanation& known : options.explanations) {
    if (known.level == verdict.level) return known;
  }
  return explain(history, verdict, {.examples = options.examples});
}

std::vector<Verdict> with_others(std::span<const Verdict> verdicts,
                                 std::span<const Verdict> others) {
  std::vector<Verdict> out;
  for (const auto& some : {verdicts, others}) {
    for (const Verdict& verdict : some) {
      out.push_back({.level = verdict.level,
                     .evidence = verdict.evidence,
                     .outcome = verdict.outcome,
                     .reason = verdict.reason});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Verdict& a, const Verdict& b) { return a.level < b.level; });
  return out;
}

std::string remark(const Verdict& verdict, const Explanation& explanation) {
  if (verdict.outcome == Outcome::Holds) return {};
  if (verdict.outcome == Outcome::Undecided) return verdict.reason;
  std::vector<std::string> names;
  for (const Story& story : explanation.stories) {
    const std::string called = name(story);
    if (std::find(names.begin(), names.end(), called) == names.end()) names.push_back(called);
  }
  for (std::size_t i = 0; names.empty() && i < kAnomalyKindCount; ++i) {
    if (verdict.counts[i] != 0) names.emplace_back(info(static_cast<AnomalyKind>(i)).name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A pass is said quietly, the rest aloud.
std::string outcome_word(Outcome outcome, bool colour) {
  constexpr std::string_view kWords[] = {"holds", "VIOLATED", "UNDECIDED"};
  constexpr std::string_view kColours[] = {"\033[32m", "\033[1;31m", "\033[1;33m"};
  const auto i = static_cast<std::size_t>(outcome);
  if (!colour) return std::string(kWords[i]);
  return fmt::format("{}{}\033[0m", kColours[i], kWords[i]);
}

std::string evidence_text(const Verdict& verdict) {
  return verdict.evidence == Evidence::Observed ? std::string()
                                                : fmt::format(" by {}", name(verdict.evidence));
}

std::string judgement(const Verdict& verdict, const Explanation& explanation, bool colour) {
  const std::string why = remark(verdict, explanation);
  return fmt::format("{} {}{}{}", outcome_word(verdict.outcome, colour), info(verdict.level).name,
                     evidence_text(verdict), why.empty() ? "" : fmt::format(" ({})", why));
}

std::optional<Evidence> other_evidence(Level level, Evidence evidence) {
  if (decidable(level, evidence)) return std::nullopt;
  for (const Evidence other : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    if (decidable(level, other)) return other;
  }
  return std::nullopt;
}

std::string level_list(std::span<const Level> levels) {
  std::string out;
  for (const Level level : levels) {
    if (!out.empty()) out += ", ";
    out += info(level).name;
  }
  return out.empty() ? "none" : out;
}

void append_stories(std::string& out, const History& history, const Verdict& verdict,
                    const Explanation& explanation, std::vector<std::vector<TxnId>>& told) {
  if (verdict.outcome != Outcome::Violated) return;
  const auto& stories = explanation.stories;
  for (std::size_t i = 0; i < stories.size(); ++i) {
    const Story& story = stories[i];
    if (std::find(told.begin(), told.end(), story.txns) == told.end()) {
      if (stories.size() > 1) {
        out += fmt::format("\n  {}: {}.\n", name(story), info(story.pattern).meaning);
      }
      out += '\n';
      append_story(out, history, story);
      told.push_back(story.txns);
    }
    const bool last =
        std::none_of(stories.begin() + static_cast<std::ptrdiff_t>(i) + 1, stories.end(),
                     [&](const Story& other) { return other.kind == story.kind; });
    if (const std::uint64_t more = untold(explanation, story.kind); last && more > 0) {
      out += fmt::format("\n  … and {} more of this kind.\n", grouped(more));
    }
  }
  if (!explanation.complete) {
    out += "\n  There may be more; --examples N tells up to N of each name.\n";
  }
}

void append_closing(std::string& out, const History& history, const ReportOptions& options) {
  if (options.whole) {
    out += fmt::format("\n{}, {}", counted(options.whole->txns, "transaction"),
                       counted(options.whole->operations, "operation"));
  } else {
    out += fmt::format("\n{}, {}", counted(history.txn_count(), "transaction"),
                       counted(history.key_count(), "key"));
  }
  if (options.load_seconds || options.check_seconds) {
    out += ", " + duration(options.load_seconds.value_or(0) + options.check_seconds.value_or(0));
  }
  out += '\n';
}

std::string anchor(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

}  // namespace ouro
