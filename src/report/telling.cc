#include "report/telling.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/level_rules.h"
#include "history/commuting.h"
#include "ouro/version.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

// The other names of the story: its id, unless that is its name, and its aliases.
std::string other_names(const Story& story) {
  const PatternInfo& about = info(story.pattern);
  std::string out = id(story) == anchor(name(story)) ? std::string() : id(story);
  if (!about.aliases.empty()) out += fmt::format("{}{}", out.empty() ? "" : ", ", about.aliases);
  return out;
}

// `several`: whether it is one of several stories, so that it needs its name.
void append_story(std::string& out, const History& history, const Story& story, bool several) {
  const Narrator narrator(history, story);
  out += fmt::format("  {}{}\n\n", several ? name(story) + ": " : "", narrator.in_short());
  for (const std::string& line : narrator.cast()) out += fmt::format("  {}\n", line);
  const std::vector<std::string> proof = narrator.proof();
  if (!proof.empty()) out += '\n';
  for (const std::string& line : proof) out += fmt::format("  {}\n", line);
  if (several) {
    out += fmt::format("\n  In general: {}.\n", info(story.pattern).meaning);
  }
  if (!story.minimal) out += "\n  Not proven minimal: fewer transactions may show it, too.\n";
  out += fmt::format("\n  Forbidden from {} on", level_list(story.weakest_violated));
  if (!story.strongest_holding.empty()) {
    out += fmt::format(", allowed up to {}", level_list(story.strongest_holding));
  }
  out += '.';
  const std::string others = other_names(story);
  out +=
      fmt::format("\n  {}See {}.\n", others.empty() ? "" : fmt::format("Also called {}. ", others),
                  document_address("anomalies.md", anchor(info(story.pattern).name)));
}

// How many violations of the kind were counted beyond those that have stories.
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

// Whether `weaker` holds in every history in which `stronger` does. implied_in(), which knows the
// history, is less careful.
bool always_implied(Level stronger, Level weaker) {
  const bool timed = rules(weaker).begins_apart() && rules(weaker).clocks();
  return implies(stronger, weaker) && (!timed || rules(stronger).begins_apart());
}

// Notes the levels that the story's part of the history violates. By observation the whole violates
// them, too. By other evidence that need not be so, and nothing is noted.
void add_violated(std::vector<Verdict>& known, const Story& story) {
  if (story.evidence != Evidence::Observed) return;
  for (const Level level : story.weakest_violated) {
    for (Verdict& verdict : known) {
      if (verdict.outcome != Outcome::Undecided || !always_implied(verdict.level, level)) continue;
      verdict.outcome = Outcome::Violated;
      verdict.reason.clear();
    }
    const auto same = [&](const Verdict& other) { return other.level == level; };
    if (std::any_of(known.begin(), known.end(), same)) continue;
    known.push_back({.level = level, .evidence = story.evidence, .outcome = Outcome::Violated});
  }
}

// Violations are counted by the engine's kind, which may comprise stories of other names.
std::string kind_phrase(const Story& story) {
  const std::string_view kind = info(story.kind).name;
  if (name(story) == kind) return "this kind";
  return fmt::format("the kind \"{}\", maybe by other names", kind);
}

}  // namespace

Explanation explanation_of(const Verdict& verdict, const ReportOptions& options) {
  for (const Explanation& known : options.explanations) {
    if (known.level == verdict.level) return known;
  }
  return {.level = verdict.level, .stories = {}, .complete = false};
}

const Verdict& verdict_at(std::span<const Verdict> verdicts, Level level) {
  return *std::find_if(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& verdict) { return verdict.level == level; });
}

std::vector<Explanation> explanations_of_weakest(std::span<const Verdict> verdicts,
                                                 const ReportOptions& options) {
  std::vector<Explanation> out;
  for (const Level level : weakest_violated(verdicts)) {
    out.push_back(explanation_of(verdict_at(verdicts, level), options));
  }
  return out;
}

std::vector<Verdict> known_levels(std::span<const Verdict> verdicts,
                                  std::span<const Verdict> others,
                                  std::span<const Explanation> explanations) {
  std::vector<Verdict> out;
  for (const auto& some : {verdicts, others}) {
    for (const Verdict& verdict : some) {
      out.push_back({.level = verdict.level,
                     .evidence = verdict.evidence,
                     .outcome = verdict.outcome,
                     .reason = verdict.reason,
                     .left_out = verdict.left_out});
    }
  }
  for (const Explanation& explanation : explanations) {
    for (const Story& story : explanation.stories) add_violated(out, story);
  }
  // A mixture of levels is none that a database gives.
  if (out.size() > 1) {
    std::erase_if(out, [](const Verdict& verdict) { return verdict.level == Level::Mixed; });
  }
  std::sort(out.begin(), out.end(),
            [](const Verdict& a, const Verdict& b) { return InListOrder()(a.level, b.level); });
  return out;
}

std::vector<Verdict> settled(std::span<const Verdict> verdicts,
                             std::span<const Explanation> explanations) {
  std::vector<Verdict> out(verdicts.begin(), verdicts.end());
  if (worst(verdicts) != Outcome::Violated) return out;  // Nothing was told.
  const std::vector<Verdict> known = known_levels(verdicts, {}, explanations);
  for (Verdict& verdict : out) {
    const auto at = std::find_if(known.begin(), known.end(), [&](const Verdict& other) {
      return other.level == verdict.level;
    });
    if (verdict.outcome != Outcome::Undecided || at == known.end()) continue;
    verdict.outcome = at->outcome;
    verdict.reason = at->reason;
  }
  return out;
}

std::vector<std::string> undecided_by_reason(std::span<const Verdict> verdicts) {
  struct Group {
    const Verdict* first;
    std::vector<Level> levels;
  };
  std::vector<Group> groups;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome != Outcome::Undecided) continue;
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.first->reason == verdict.reason;
    });
    if (at == groups.end()) at = groups.insert(at, {&verdict, {}});
    at->levels.push_back(verdict.level);
  }
  std::vector<std::string> out;
  for (const auto& [first, levels] : groups) {
    const std::string why = first->reason.empty() ? "" : fmt::format(" ({})", first->reason);
    out.push_back(level_list(levels) + evidence_text(*first) + why);
  }
  return out;
}

std::vector<Level> undecided(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Undecided) out.push_back(verdict.level);
  }
  return out;
}

std::string remark(const Verdict& verdict, const Explanation& explanation) {
  if (verdict.outcome == Outcome::Holds) return describe(verdict.left_out);
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

// Only what needs attention is in capitals.
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

std::string plain_judgement(const Verdict& verdict, bool colour) {
  const bool partly = verdict.outcome == Outcome::Holds && !verdict.left_out.empty();
  return fmt::format("{} {}{}{}", outcome_word(verdict.outcome, colour), info(verdict.level).name,
                     evidence_text(verdict), partly ? " as far as was checked" : "");
}

std::string judgement(const Verdict& verdict, const Explanation& explanation, bool colour) {
  const std::string why = remark(verdict, explanation);
  return plain_judgement(verdict, colour) + (why.empty() ? "" : fmt::format(" ({})", why));
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

bool is_same(const Story& a, const Story& b) {
  return a.txns == b.txns && a.shown_by == b.shown_by && a.pattern == b.pattern &&
         a.variant == b.variant;
}

void append_stories(std::string& out, const History& history, const Verdict& verdict,
                    const Explanation& explanation, std::vector<const Story*>& told) {
  if (verdict.outcome != Outcome::Violated) return;
  const auto& stories = explanation.stories;
  for (std::size_t i = 0; i < stories.size(); ++i) {
    const Story& story = stories[i];
    const auto same = [&](const Story* other) { return is_same(*other, story); };
    if (std::none_of(told.begin(), told.end(), same)) {
      out += '\n';
      append_story(out, history, story, stories.size() > 1);
      told.push_back(&story);
    }
    const bool last =
        std::none_of(stories.begin() + static_cast<std::ptrdiff_t>(i) + 1, stories.end(),
                     [&](const Story& other) { return other.kind == story.kind; });
    if (const std::uint64_t more = untold(explanation, story.kind); last && more > 0) {
      out += fmt::format("\n  … and {} more of {}.\n", grouped(more), kind_phrase(story));
    }
  }
  constexpr std::string_view kMore =
      "\n  There may be more; --examples N tells up to N of each name.\n";
  if (!explanation.complete && !stories.empty() && !out.ends_with(kMore)) out += kMore;
}

void append_closing(std::string& out, const History& history, const ReportOptions& options) {
  if (options.whole) {
    out += fmt::format("\n{}, {}", counted(options.whole->txns, "transaction"),
                       counted(options.whole->operations, "operation"));
  } else {
    out += fmt::format("\n{}, {}", counted(history.txn_count(), "transaction"),
                       counted(named_keys(history), "key"));
  }
  if (!options.segments.empty()) out += ", " + counted(options.segments.size(), "segment");
  if (options.load_seconds || options.check_seconds) {
    const double telling = options.effort != nullptr ? telling_seconds(*options.effort) : 0;
    out += ", " +
           duration(options.load_seconds.value_or(0) + options.check_seconds.value_or(0) + telling);
  }
  out += '\n';
}

std::string anchor(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

}  // namespace ouro
