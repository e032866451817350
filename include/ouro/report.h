// Verdicts, counts and findings as text for people and JSON for machines.
//
// Nothing here prints; everything is returned. Nothing here searches either: violations are told
// by the stories that explain() or examine() found. Text uses terminal colours only if asked to.
// JSON is one object on one line with a line break (docs/json.md), valid whatever bytes the history
// holds: bytes that are no UTF-8 become U+FFFD. Cost: linear in the text, unless said otherwise.
//
// Example (built and run as tests/example_report.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/fractured_read.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::ReadAtomic);
//   if (!verdict.ok()) return fail(verdict.error());
//   const ouro::Explanation explanation = ouro::explain(*history, *verdict);
//   ouro::ReportOptions options{.name = "the bank", .explanations = {&explanation, 1}};
//   std::cout << ouro::describe(*history, *verdict, options);
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
#include "ouro/check_segments.h"
#include "ouro/examine.h"
#include "ouro/explain.h"
#include "ouro/history.h"
#include "ouro/lint.h"
#include "ouro/stats.h"

namespace ouro {

struct ReportOptions {
  std::string_view name;  // What to call the history. Empty: by its file.
  bool colour = false;    // Whether to use terminal colours.
  // Explanations of violated levels. If a violated level has none, the report names the kinds of
  // its anomalies and tells no stories.
  std::span<const Explanation> explanations;
  std::span<const Level> unsupported;  // Levels that were asked for but cannot be decided.
  std::span<const Verdict> others;     // Examination::others, if known.
  // If the history has only some of the transactions that were checked: how many were checked.
  struct Whole {
    std::uint64_t txns = 0;
    std::uint64_t operations = 0;
  };
  std::optional<Whole> whole;
  std::span<const SegmentVerdict> segments;  // CheckedSegments::segments, if it was checked so.
  // How long reading took, if it is to be told; and how long checking took.
  std::optional<double> load_seconds;
  std::optional<double> check_seconds;
  std::optional<Outcome> observed;  // Examination::observed, if known.
  // What the check took, for JSON, and all else beside it: to explain and to ask about other
  // levels. Null: is not told.
  const Effort* effort = nullptr;
};

// One line: "bank.jsonl: VIOLATED read-atomic (fractured read)", "bank.jsonl: holds causal". If the
// verdict leaves something out, it says what: "bank.jsonl: holds causal as far as was checked (2
// reads have no recorded result)".
[[nodiscard]] std::string headline(const History& history, const Verdict& verdict,
                                   const ReportOptions& options = {});

// The headline, the stories and a line of counts. A story lists the transactions involved, why each
// must precede the next, where that contradicts itself, and which levels forbid it.
[[nodiscard]] std::string describe(const History& history, const Verdict& verdict,
                                   const ReportOptions& options);

// What the headline begins with, whatever is explained: "bank.jsonl: VIOLATED read-atomic". All
// of it if the level is not violated.
[[nodiscard]] std::string headline_start(const History& history, const Verdict& verdict,
                                         const ReportOptions& options = {});

// The same for several levels of one history. The headline is still one line. The description has
// the outcome of each level, the strongest levels that the database kept, and the stories of the
// weakest levels violated. REQUIRES: at least one verdict; all by the same evidence.
[[nodiscard]] std::string headline(const History& history, std::span<const Verdict> verdicts,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string describe(const History& history, std::span<const Verdict> verdicts,
                                   const ReportOptions& options);

// The same for what examine() found. Explanations, others, observed, check_seconds
// and effort are taken from the examination, not from the options.
[[nodiscard]] std::string headline(const History& history, const Examination& examination,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string describe(const History& history, const Examination& examination,
                                   const ReportOptions& options);
[[nodiscard]] std::string to_json(const History& history, const Examination& examination,
                                  const ReportOptions& options = {});

// What a verdict leaves out: "no transaction has clocks, so nothing is said about real time"; ""
// for nothing.
[[nodiscard]] std::string describe(std::span<const LeftOut> left_out);

// Whether and why `first` must precede `second`. REQUIRES: precedence() gave `answer` for them,
// asked at `level`. If both ways are open, `other` is the answer with the two exchanged: then an
// order for each way is shown. It may be null.
[[nodiscard]] std::string describe(const History& history, Level level, TxnId first, TxnId second,
                                   const Precedence& answer, const Precedence* other = nullptr);

// The verdict, or the verdicts, and their stories as JSON.
[[nodiscard]] std::string to_json(const History& history, const Verdict& verdict,
                                  const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, std::span<const Verdict> verdicts,
                                  const ReportOptions& options = {});

// What count() found.
[[nodiscard]] std::string describe(const History& history, const Stats& stats,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, const Stats& stats,
                                  const ReportOptions& options = {});

// What lint() found.
[[nodiscard]] std::string describe(const History& history, std::span<const Finding> findings,
                                   const ReportOptions& options = {});
[[nodiscard]] std::string to_json(const History& history, std::span<const Finding> findings,
                                  const ReportOptions& options = {});

// A history that could not be read or checked: {"history":…,"error":{…}}.
[[nodiscard]] std::string to_json(std::string_view history, const Error& error);

// A table of all levels and what each directly implies. Each level in `verdicts` has a mark that
// says whether it holds, is violated or is undecided.
[[nodiscard]] std::string marked_lattice(std::span<const Verdict> verdicts, bool colour = false);

// All levels: what each implies, what it means, and whether check() decides it by observation.
[[nodiscard]] std::string describe_levels();
[[nodiscard]] std::string levels_to_json();

}  // namespace ouro
