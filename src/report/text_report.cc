// Verdicts as a newcomer can read them.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/report.h"
#include "report/notation.h"
#include "report/refutation_story.h"
#include "report/story.h"

namespace ouro {
namespace {

// The outcome as a word, coloured if asked. A pass is said quietly, the rest aloud.
std::string outcome_word(Outcome outcome, bool colour) {
  constexpr std::string_view kWords[] = {"holds", "VIOLATED", "UNDECIDED"};
  constexpr std::string_view kColours[] = {"\033[32m", "\033[1;31m", "\033[1;33m"};
  const auto i = static_cast<std::size_t>(outcome);
  if (!colour) return std::string(kWords[i]);
  return fmt::format("{}{}\033[0m", kColours[i], kWords[i]);
}

// "aborted read, fractured read": the kinds found; for an undecided verdict the reason.
std::string remark(const Verdict& verdict) {
  if (verdict.outcome == Outcome::Undecided) return verdict.reason;
  std::string out;
  for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
    if (verdict.counts[i] == 0) continue;
    if (!out.empty()) out += ", ";
    out += info(static_cast<AnomalyKind>(i)).name;
  }
  return out;
}

// What the verdict rests on, if it is not what it usually is.
std::string evidence_text(const Verdict& verdict) {
  return verdict.evidence == Evidence::Observed ? std::string()
                                                : fmt::format(" by {}", name(verdict.evidence));
}

// "VIOLATED read-atomic (fractured read)"
std::string judgement(const Verdict& verdict, bool colour) {
  const std::string why = verdict.outcome == Outcome::Holds ? std::string() : remark(verdict);
  return fmt::format("{} {}{}{}", outcome_word(verdict.outcome, colour), info(verdict.level).name,
                     evidence_text(verdict), why.empty() ? "" : fmt::format(" ({})", why));
}

std::string level_list(std::span<const Level> levels) {
  std::string out;
  for (const Level level : levels) {
    if (!out.empty()) out += ", ";
    out += info(level).name;
  }
  return out.empty() ? "none" : out;
}

const Verdict* find(std::span<const Verdict> verdicts, Level level) {
  const auto at = std::find_if(verdicts.begin(), verdicts.end(),
                               [&](const Verdict& verdict) { return verdict.level == level; });
  return at == verdicts.end() ? nullptr : &*at;
}

void append_anomaly(std::string& out, const History& history, const Anomaly& anomaly) {
  const Story story(history, anomaly);
  for (const std::string& line : story.cast()) out += fmt::format("  {}\n", line);
  out += '\n';
  for (const std::string& line : story.sentences()) out += fmt::format("  {}\n", line);
}

// Every kind of anomaly with its first examples, and how many more there are.
void append_stories(std::string& out, const History& history, const Verdict& verdict,
                    std::size_t examples) {
  const auto kinds = std::count_if(verdict.counts.begin(), verdict.counts.end(),
                                   [](std::uint64_t count) { return count != 0; });
  for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
    const auto kind = static_cast<AnomalyKind>(i);
    std::size_t told = 0;
    for (const Anomaly& anomaly : verdict.anomalies) {
      if (anomaly.kind != kind || told == examples) continue;
      if (told++ == 0 && kinds > 1) {
        out += fmt::format("\n  {}: {}.\n", info(kind).name, info(kind).meaning);
      }
      out += '\n';
      if (kind == AnomalyKind::ContradictoryOrder) {
        append_refutation(out, history, verdict.refutation);
      } else {
        append_anomaly(out, history, anomaly);
      }
    }
    if (told != 0 && verdict.counts[i] > told) {
      out += fmt::format("\n  … and {} more of this kind.\n", grouped(verdict.counts[i] - told));
    }
  }
}

void append_closing(std::string& out, const History& history, const ReportOptions& options) {
  out += fmt::format("\n{}, {}", counted(history.txn_count(), "transaction"),
                     counted(history.key_count(), "key"));
  if (options.load_seconds || options.check_seconds) {
    out += ", " + duration(options.load_seconds.value_or(0) + options.check_seconds.value_or(0));
  }
  out += '\n';
}

}  // namespace

std::string headline(const History& history, const Verdict& verdict, const ReportOptions& options) {
  return fmt::format("{}: {}\n", name_or_file(history, options.name),
                     judgement(verdict, options.colour));
}

std::string describe(const History& history, const Verdict& verdict, const ReportOptions& options) {
  std::string out = headline(history, verdict, options);
  append_stories(out, history, verdict, options.examples);
  if (options.observed == Outcome::Holds && verdict.outcome == Outcome::Violated) {
    const bool versions = verdict.evidence == Evidence::Versions;
    out += fmt::format(
        "\n  In another order than that of its {} the history is {}: see --evidence\n"
        "  observed. But then the database did not do what its own {}.\n",
        versions ? "version orders" : "timestamps", info(verdict.level).name,
        versions ? "records say" : "clock says");
  }
  append_closing(out, history, options);
  return out;
}

std::string describe(const History& history, const Verdict& verdict) {
  return describe(history, verdict, ReportOptions{});
}

std::vector<Level> strongest_holding(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    const bool covered = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& other) {
      return other.outcome == Outcome::Holds && other.level != verdict.level &&
             implies(other.level, verdict.level);
    });
    if (verdict.outcome == Outcome::Holds && !covered) out.push_back(verdict.level);
  }
  return out;
}

std::vector<Level> weakest_violated(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    const bool covered = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& other) {
      return other.outcome == Outcome::Violated && other.level != verdict.level &&
             implies(verdict.level, other.level);
    });
    if (verdict.outcome == Outcome::Violated && !covered) out.push_back(verdict.level);
  }
  return out;
}

Outcome worst(std::span<const Verdict> verdicts) {
  Outcome out = Outcome::Holds;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Violated) return Outcome::Violated;
    if (verdict.outcome == Outcome::Undecided) out = Outcome::Undecided;
  }
  return out;
}

std::string headline(const History& history, std::span<const Verdict> verdicts,
                     const ReportOptions& options) {
  std::string parts;
  const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : "; ") + part; };
  for (const Level level : weakest_violated(verdicts)) {
    add(judgement(*find(verdicts, level), options.colour));
  }
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Undecided) add(judgement(verdict, options.colour));
  }
  if (const auto strongest = strongest_holding(verdicts); !strongest.empty()) {
    add(outcome_word(Outcome::Holds, options.colour) + ' ' + level_list(strongest) +
        evidence_text(verdicts.front()));
  }
  return fmt::format("{}: {}\n", name_or_file(history, options.name), parts);
}

std::string describe(const History& history, std::span<const Verdict> verdicts,
                     const ReportOptions& options) {
  std::string out = headline(history, verdicts, options) + '\n';
  for (const Verdict& verdict : verdicts) {
    const std::string why = verdict.outcome == Outcome::Holds ? std::string() : remark(verdict);
    const std::string word = outcome_word(verdict.outcome, options.colour);
    const std::size_t plain = outcome_word(verdict.outcome, false).size();
    out += fmt::format("  {}{:{}}  {}{}\n", word, "", 9 - plain, info(verdict.level).name,
                       why.empty() ? "" : fmt::format(" ({})", why));
  }
  const auto violated = weakest_violated(verdicts);
  out += fmt::format("\n  Weakest level violated: {}.  Strongest that holds: {}.\n",
                     level_list(violated), level_list(strongest_holding(verdicts)));
  if (!options.unsupported.empty()) {
    out += "  Not decided, because this version does not support them:\n";
    std::string line = "   ";
    for (const Level level : options.unsupported) {
      if (line.size() + info(level).name.size() > 76) {
        out += line + '\n';
        line = "   ";
      }
      line +=
          fmt::format(" {}{}", info(level).name, level == options.unsupported.back() ? "." : ",");
    }
    out += line + '\n';
  }
  for (const Level level : violated) {
    append_stories(out, history, *find(verdicts, level), options.examples);
  }
  append_closing(out, history, options);
  return out;
}

}  // namespace ouro
