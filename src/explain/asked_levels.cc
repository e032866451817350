// Which levels are asked for, and by which evidence.

#include "ouro/asked_levels.h"

#include <fmt/format.h>

#include <string>

#include "base/elle_models.h"

namespace ouro {
namespace {

AskedLevels all_levels(Evidence evidence) {
  AskedLevels out;
  for (const LevelInfo& level : levels()) {
    (decidable(level.level, evidence) ? out.levels : out.unsupported).push_back(level.level);
  }
  return out;
}

// What a history of another model than transactions is checked against; nothing: as all others.
std::optional<Level> level_of_model(const History& history) {
  for (const Remark& remark : history.remarks()) {
    if (remark.name != "model") continue;
    if (remark.text == "sequential") return Level::SessionSerializable;
    const bool transactions = remark.text == "bank" || remark.text == "long-fork";
    return transactions ? Level::Serializable : Level::StrictSerializable;
  }
  return history.states_levels() ? std::optional(Level::Mixed) : std::nullopt;
}

}  // namespace

std::optional<Evidence> find_evidence(std::string_view name) {
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions, Evidence::Timestamps}) {
    if (name == ouro::name(evidence)) return evidence;
  }
  return std::nullopt;
}

Result<AskedLevels> parse_levels(std::string_view names, Evidence evidence) {
  if (names == "all") return all_levels(evidence);
  AskedLevels out;
  for (;;) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const auto level = find_level(name);
    if (!level) {
      Error error;
      error.what = unknown_level(name);
      return error;
    }
    if (!decidable(*level, evidence)) {
      Error error;
      error.what =
          fmt::format("level '{}' cannot be decided by evidence '{}'; give --evidence {}",
                      info(*level).name, ouro::name(evidence), ouro::name(Evidence::Observed));
      return error;
    }
    out.levels.push_back(*level);
    if (comma == std::string_view::npos) return out;
    names.remove_prefix(comma + 1);
  }
}

Level usual_level(const History& history, Evidence evidence) {
  const Level level = level_of_model(history).value_or(Level::Serializable);
  return level == Level::Mixed || decidable(level, evidence) ? level : Level::Serializable;
}

}  // namespace ouro
