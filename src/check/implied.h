// Which verdicts follow from others for a given history. All code that draws such conclusions asks
// here.
#pragma once

#include "base/level_rules.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// The level that differs from `level` only in that it forbids phantoms; itself if it does.
[[nodiscard]] inline Level with_phantoms_forbidden(Level level) {
  if (!rules(level).phantoms) return level;
  LevelRules wanted = rules(level);
  wanted.phantoms = false;
  for (const LevelInfo& other : levels()) {
    const LevelRules& given = rules(other.level);
    if (given.family == wanted.family && given.premise == wanted.premise &&
        given.sessions == wanted.sessions && given.real_time == wanted.real_time &&
        given.lost_updates == wanted.lost_updates && given.phantoms == wanted.phantoms) {
      return other.level;
    }
  }
  return level;
}

// Whether `weaker` holds if `stronger` does, by this evidence. As implies(), with two exceptions.
//
// Without predicate reads there are no phantoms, so levels that differ only in them are the same.
//
// If clients recorded when begins were answered, a transaction begins, at the levels of snapshots
// with real time, before all commits that were asked for later. At the serial levels it may happen
// as late as it completes, so these do not imply those.
[[nodiscard]] inline bool implied_in(const History& history, Level stronger, Level weaker,
                                     Evidence evidence) {
  if (!history.has_predicate_reads()) stronger = with_phantoms_forbidden(stronger);
  if (!implies(stronger, weaker, evidence)) return false;
  const LevelRules& below = rules(weaker);
  return !history.has_inner_clocks() || rules(stronger).begins_apart() || !below.begins_apart() ||
         !below.clocks();
}

}  // namespace ouro
