// Verdicts, counts and findings as text for people and JSON for machines.
//
// Nothing here prints; everything is returned. Text uses terminal colours only if asked to. JSON is
// one object on one line, valid whatever bytes the history holds: bytes that are no UTF-8 become
// U+FFFD.
//
// Example (built and run as tests/example_report.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/fractured_read.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::ReadAtomic);
//   if (!verdict.ok()) return fail(verdict.error());
//   std::cout << ouro::describe(*history, *verdict, {.name = "the bank"});
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/history.h"
#include "ouro/lint.h"
#include "ouro/stats.h"

namespace ouro {

struct ReportOptions {
  std::string_view name;     // What to call the history; empty: its file.
  bool colour = false;       // For a terminal.
  std::size_t examples = 1;  // Stories of each pattern to tell.
  // Explanations that were made already, by level; what is missing is made when it is needed.
  std::span<const Explanation> explanations;
  std::span<const Level> unsupported;  // Levels asked for that no verdict is about.
  std::span<const Verdict> others;     // At levels that were not asked for, if they are known.
  // If the history has only some transactions of what was checked: how many there are in all.
  struct Whole {
    std::uint64_t txns = 0;
    std::uint64_t operations = 0;
  };
  std::optional<Whole> whole;
  std::optional<double> load_seconds;  // What it took, if it is to be told.
  std::optional<double> check_seconds;
  // Of verdicts by timestamps or version orders: what the reads alone say at the levels that are
  // violated, if somebody asked.
  std::optional<Outcome> observed;
};

// One line: "bank.jsonl: VIOLATED read-atomic (fractured read)", "bank.jsonl: holds causal".
[[nodiscard]] std::string headline(const History& history, const Verdict& verdict,
                                   const ReportOptions& options = {});

// The headline; for a violation also its stories: the transactions involved, why each must precede
// the next, where that contradicts itself, and which levels forbid it; last a line of counts.
[[nodiscard]] std::string describe(const History& history, const Verdict& verdict,
                                   const ReportOptions& options);

// Violated if any is, else undecided if any is, else holds.
[[nodiscard]] Outcome worst(std::span<const Verdict> verdicts);

// The same for several levels of one history: one line, or the lattice of levels with a mark at
// each, what the database gave, and then the stories of the weakest levels violated.
[[nodiscard]] std::string headline(const History& history, std::span<const Verdict> verdicts,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string describe(const History& history, std::span<const Verdict> verdicts,
                                   const ReportOptions& options);

// Whether and why `first` must precede `second`, as precedence() answered.
[[nodiscard]] std::string describe(const History& history, Level level, TxnId first, TxnId second,
                                   const Precedence& answer);

// As docs/json.md says, with a line break at the end.
[[nodiscard]] std::string to_json(const History& history, const Verdict& verdict,
                                  const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, std::span<const Verdict> verdicts,
                                  const ReportOptions& options = {});

// Counts.
[[nodiscard]] std::string describe(const History& history, const Stats& stats,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, const Stats& stats,
                                  const ReportOptions& options = {});

// Lint findings.
[[nodiscard]] std::string describe(const History& history, std::span<const Finding> findings,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, std::span<const Finding> findings,
                                  const ReportOptions& options = {});

// What could not be read or checked, in the same shape: {"history":…,"error":{…}}.
[[nodiscard]] std::string to_json(std::string_view history, const Error& error);

// The lattice of levels, each that a verdict is about with a mark: holds, violated or undecided.
[[nodiscard]] std::string marked_lattice(std::span<const Verdict> verdicts, bool colour = false);

// The levels: how they relate, what they mean, and which of them check() decides.
[[nodiscard]] std::string describe_levels();
[[nodiscard]] std::string levels_to_json();

}  // namespace ouro
