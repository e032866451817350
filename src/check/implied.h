// Which verdicts follow from others for a given history. All code that draws such conclusions asks
// here.
#pragma once

#include "base/level_rules.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// Whether `weaker` holds if `stronger` does, by this evidence. As implies(), unless clients
// recorded when begins were answered: then a transaction begins, at the levels of snapshots with
// real time, before all commits that were asked for later. At the serial levels it may happen as
// late as it completes, so these do not imply those.
[[nodiscard]] inline bool implied_in(const History& history, Level stronger, Level weaker,
                                     Evidence evidence) {
  if (!implies(stronger, weaker, evidence)) return false;
  const LevelRules& below = rules(weaker);
  return !history.has_inner_clocks() || rules(stronger).begins_apart() || !below.begins_apart() ||
         !below.clocks();
}

}  // namespace ouro
