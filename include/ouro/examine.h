// All that is to be said about a history, in one call: whether it satisfies some levels, which
// other levels it satisfies, why it violates those that it violates, and whether that was expected.
//
// examine() calls check(), explain() and judge() in the order and with the limits of the command
// `ouro check`. The result depends on the history and the options alone, not on the speed of the
// machine nor on the number of threads; unless a limit of time or memory is given and reached, or
// somebody cancels.
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
#include <span>
#include <vector>

#include "ouro/check.h"
#include "ouro/expect.h"
#include "ouro/explain.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// The stages of examine(), in their order. Checking and Explaining are always done. ReadsAlone and
// OtherLevels are courtesies: they answer questions that nobody asked, and get limited work.
enum class ExamineStage : std::uint8_t {
  Checking,     // Decides the levels asked for.
  Explaining,   // Finds out why levels are violated.
  OtherLevels,  // Decides the levels that were not asked for. If one is violated, its story may be
                // smaller, and is told instead.
  ReadsAlone,   // Would another order than the evidence gives explain what was read?
  Looking,      // Looks for the anomalies that are expected to show, or not to.
};

struct ExamineOptions {
  std::vector<Level> levels;  // To be checked. REQUIRES: at least one.
  // How to check. `time_limit` is for all stages together, but a violation that was found in time
  // is also explained. `memory_limit` is for all stages. `work_limit` is for Checking and, once
  // more, for all checks in Looking. examine() sets `outcomes_only`, and raises `check.examples` to
  // `examples` if it is less. `effort` is ignored: see Examination::effort.
  //
  // `cancelled` turning true ends the stage under way, and all later ones, early. If `progress`
  // makes it false again when it is told of the next stage, only that one stage is given up.
  CheckOptions check;
  std::size_t examples = 1;  // How many stories of each name to tell.
  enum class Explain : std::uint8_t {
    Nothing,
    // Those violated levels that imply no other violated level. Whatever violates a weaker level
    // also violates the stronger one, so this explains the others, too.
    WeakestLevels,
    AllLevels,
  } explain = Explain::WeakestLevels;
  // Whether to report what the courtesies OtherLevels and ReadsAlone find. They get what explaining
  // leaves of its work, see below. If something is explained, other levels are asked in any case:
  // the smallest story may be of one of them.
  bool other_levels = true;
  bool reads_alone = true;
  // Whether to tell what Elle tells: of violations that need neither sessions nor clocks, a story
  // without them in place of one of the same id that has them; and a story of each kind of wrong
  // operation that a verdict counts. Without this, the smallest story may stand for both.
  bool each_kind = false;
  // If not empty, every violated level is explained. Names that do not show there are looked for in
  // further stories, and at weaker levels, too; what is found of them is told last.
  Expectation expectation;
  std::function<void(ExamineStage)> progress;  // Called when a stage begins; may be empty.
  // Called with Examination::verdicts as soon as they are known, before all else; may be empty.
  std::function<void(std::span<const Verdict>)> decided;
};

struct Examination {
  std::vector<Verdict> verdicts;  // One for each level asked for, in that order.
  // The outcomes, without proofs, of the other levels that the evidence can decide and whose
  // outcome does not follow from `verdicts`. Empty if one of `verdicts` is undecided, or if they
  // were not asked for.
  std::vector<Verdict> others;
  // By timestamps or version orders: the worst outcome that the violated levels have by
  // Evidence::Observed. Nothing if it was not asked for or not decided.
  std::optional<Outcome> observed;
  // Of violated levels: first of the weakest, in the order of `verdicts`, then of the others. What
  // is told first of a level does not depend on what else is reported.
  std::vector<Explanation> explanations;
  std::optional<ExpectationMet> met;  // Whether the expectation was met, if there was one.
  double check_seconds = 0;           // How long the stage Checking took, by the wall clock.
  // What Checking took, in its parts; and how long courtesies and explanations did.
  Effort effort;
};

// How long everything behind the check took: courtesies and explanations.
[[nodiscard]] inline double telling_seconds(const Effort& effort) {
  return effort.seconds_of(Stage::Others) + effort.seconds_of(Stage::Explain);
}

// The outcome of all: ExpectationMet::outcome if something was expected, else the worst verdict
// (Violated, then Undecided, then Holds).
[[nodiscard]] Outcome outcome(const Examination& examination);

// Examines `history` as `options` say. The errors are those of check().
//
// Cost: that of check(), and about as much again for all explanations and courtesies together, or
// half a second of work if that is more. With AllLevels, a quarter of that for each level beyond.
[[nodiscard]] Result<Examination> examine(const History& history, const ExamineOptions& options);

}  // namespace ouro
