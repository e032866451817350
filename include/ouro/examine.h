// All that is to be said about a history, in one call: whether it satisfies some levels, which
// other levels it satisfies, why it violates those that it violates, and whether that was expected.
//
// It is check(), explain() and judge() in the order and with the limits that the command line has.
// What is decided, named and told depends on the history and the options alone, not on the speed of
// the machine nor on the number of threads; unless a limit of time or memory is given and reached,
// or somebody cancels.
//
// Example (built and run as tests/example_examine.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto examination = ouro::examine(*history, {.levels = {ouro::Level::Serializable}});
//   if (!examination.ok()) return fail(examination.error());
//   std::cout << ouro::describe(*history, *examination, {.name = "the bank"});
//
// Thread safety: calls share no state. examine() uses threads of its own as check() does; it calls
// ExamineOptions::progress from the thread that called it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ouro/check.h"
#include "ouro/expect.h"
#include "ouro/explain.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// What examine() does, one after the other. Only the first and the last but one are always done.
enum class ExamineStage : std::uint8_t {
  Checking,     // The levels asked for.
  ReadsAlone,   // A courtesy: whether another order than the one given would explain the reads.
  OtherLevels,  // A courtesy: the levels that nobody asked for.
  Explaining,   // Of each violation, why.
  Looking,      // For anomalies that are expected to show, or not to.
};

struct ExamineOptions {
  std::vector<Level> levels;  // To be checked; at least one.
  // How. Limits of time and memory are for all stages together, but a violation that was found in
  // time is also explained. `outcomes_only` and `examples` are chosen by examine().
  //
  // `cancelled` turning true ends the stage under way, and those behind it, early. If `progress`
  // makes it false again when it is told of the next stage, only that one stage is given up.
  CheckOptions check;
  std::size_t examples = 1;  // Stories of each name to tell.
  enum class Explain : std::uint8_t {
    Nothing,
    WeakestLevels,  // Of the levels violated those that imply no other one, which say it all.
    AllLevels,
  } explain = Explain::WeakestLevels;
  // Whether to do the courtesies. Each may take five times the work of checking the levels asked
  // for, or about a second.
  bool other_levels = true;
  bool reads_alone = true;
  // If not empty, every level violated is explained, and if names are missing, weaker levels are
  // looked through for them, too.
  Expectation expectation;
  std::function<void(ExamineStage)> progress;  // Told of each stage at its beginning; may be empty.
};

struct Examination {
  std::vector<Verdict> verdicts;  // One for each level asked for, in that order.
  // Of all other levels that the evidence can decide and whose outcome does not follow from
  // `verdicts`: their outcomes, without proofs. Empty if one of `verdicts` is undecided.
  std::vector<Verdict> others;
  // By timestamps or version orders: what the reads alone say at the levels that are violated.
  // Nothing if nobody knows.
  std::optional<Outcome> observed;
  std::vector<Explanation>
      explanations;                   // Of levels in `verdicts`, with at most `examples` a name.
  std::optional<ExpectationMet> met;  // What came of the expectation, if there was one.
  double check_seconds = 0;           // What the first stage took.
};

// What it all comes to: whether what was expected came true, or else the worst of the verdicts.
[[nodiscard]] Outcome outcome(const Examination& examination);

// The error is check()'s.
//
// Cost: that of check(); then, as asked for, at most five times that or some seconds of work for
// each courtesy, and two seconds of work for each level that is explained.
[[nodiscard]] Result<Examination> examine(const History& history, const ExamineOptions& options);

}  // namespace ouro
