// Chooses the engine for a level.

#include "ouro/check.h"

#include <fmt/format.h>

namespace ouro {

bool decidable(Level) { return false; }

Result<std::vector<Verdict>> check(const History&, std::span<const Level> levels,
                                   const CheckOptions&) {
  Error error;
  error.what = fmt::format("level '{}' is not supported yet", info(levels.front()).name);
  return error;
}

Result<Verdict> check(const History& history, Level level, const CheckOptions& options) {
  auto verdicts = check(history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

}  // namespace ouro
