// Chooses the engine for a level.

#include "ouro/check.h"

#include <fmt/format.h>

#include "check/local/local.h"
#include "check/observed.h"
#include "check/polygraph/polygraph.h"
#include "check/timeline/check_timeline.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return "interrupted";
  if (budget.out_of_memory()) {
    return fmt::format("memory limit of {} MB reached", options.memory_limit / 1'000'000);
  }
  return fmt::format("time limit of {} s reached",
                     static_cast<double>(options.time_limit.count()) / 1000);
}

// The levels one by one; nothing is worth sharing between them.
Result<std::vector<Verdict>> check_by_timestamps(const History& history,
                                                 std::span<const Level> levels,
                                                 const Budget& budget,
                                                 const CheckOptions& options) {
  std::vector<Verdict> verdicts;
  for (const Level level : levels) {
    auto verdict = check_timeline(history, level, budget, options);
    if (!verdict.ok()) return std::move(verdict).error();
    if (verdict->outcome == Outcome::Undecided) verdict->reason = stop_reason(budget, options);
    verdicts.push_back(*std::move(verdict));
  }
  return verdicts;
}

}  // namespace

bool decidable(Level level, Evidence evidence) {
  switch (evidence) {
    case Evidence::Observed:
      return level != Level::RepeatableRead;
    case Evidence::Timestamps:
      return level >= Level::Si && level != Level::RepeatableRead;
    case Evidence::Versions:
      return true;
  }
  return false;
}

Result<std::vector<Verdict>> check(const History& history, std::span<const Level> levels,
                                   const CheckOptions& options) {
  for (const Level level : levels) {
    if (!decidable(level, options.evidence)) {
      Error error;
      error.what = fmt::format("level '{}' is not supported by this version", info(level).name);
      if (options.evidence != Evidence::Observed) {
        error.what += fmt::format(" with evidence '{}'", name(options.evidence));
      }
      return error;
    }
  }
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit);
  if (options.evidence == Evidence::Timestamps) {
    return check_by_timestamps(history, levels, budget, options);
  }
  auto observed = Observed::observe(history, budget, options.threads, options.evidence);
  if (!observed.ok()) return std::move(observed).error();
  std::vector<Verdict> verdicts;
  for (const Level level : levels) {
    Verdict verdict{.level = level};
    if (!observed->stopped()) {
      add_wrong_reads(verdict, *observed, options.examples);
      if (verdict.outcome != Outcome::Violated) {
        verdict = level <= Level::Causal ? check_weak(*observed, level, budget, options)
                                         : check_polygraph(*observed, level, budget, options);
      }
    }
    if (verdict.outcome == Outcome::Undecided) verdict.reason = stop_reason(budget, options);
    verdict.evidence = options.evidence;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Result<Verdict> check(const History& history, Level level, const CheckOptions& options) {
  auto verdicts = check(history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

}  // namespace ouro
