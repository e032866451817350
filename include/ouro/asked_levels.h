// Which levels are asked for, as text: what `ouro check` and the interface for C make of names.
//
// Example (built and run as tests/example_asked_levels.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto asked = ouro::parse_levels("si,causal", ouro::Evidence::Observed);
//   if (!asked.ok()) return fail(asked.error());
//   const auto examination = ouro::examine(*history, {.levels = asked->levels});
//   if (!examination.ok()) return fail(examination.error());
//   std::cout << ouro::describe(*history, *examination, {.name = "the bank"});
//
// Cost: look-ups of names; what asks a history for its model or stated levels reads a few columns.
//
// Thread safety: calls share no state.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

// The evidence of that name; nothing if there is none.
[[nodiscard]] std::optional<Evidence> find_evidence(std::string_view name);

// Levels that somebody asks for, and those of them that cannot be decided.
struct AskedLevels {
  std::vector<Level> levels;
  std::vector<Level> unsupported;  // Those that "all" leaves out.
};

// Reads the names of levels, with commas between them, or "all": every level that the evidence can
// decide. The error is a name that no level has, a level that the evidence cannot decide, or no
// name.
[[nodiscard]] Result<AskedLevels> parse_levels(std::string_view names, Evidence evidence);

// The level at which a history is checked if nobody asks for one: serializable, or what it asks for
// itself: Level::Mixed if its transactions state levels, what fits the model if it is one of
// Jepsen's tests. One that the evidence can decide, or serializable; but Level::Mixed also if it
// cannot, so that check() says so instead of judging by a level that nobody named.
[[nodiscard]] Level usual_level(const History& history, Evidence evidence);

}  // namespace ouro
