// Chooses the engine for a level.

#include "ouro/check.h"

#include <fmt/format.h>

#include "check/local/local.h"
#include "check/observed.h"
#include "check/polygraph/polygraph.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return "interrupted";
  return fmt::format("time limit of {} s reached",
                     static_cast<double>(options.time_limit.count()) / 1000);
}

}  // namespace

bool decidable(Level level) { return level != Level::RepeatableRead; }

Result<std::vector<Verdict>> check(const History& history, std::span<const Level> levels,
                                   const CheckOptions& options) {
  for (const Level level : levels) {
    if (!decidable(level)) {
      Error error;
      error.what = fmt::format("level '{}' is not supported by this version", info(level).name);
      return error;
    }
  }
  const Budget budget(options.time_limit, options.cancelled);
  auto observed = Observed::observe(history, budget, options.threads);
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
