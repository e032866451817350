// Decides a level by the database's timestamps (Chronos; with predicates, Enne).
#pragma once

#include "base/budget.h"
#include "ouro/check.h"

namespace ouro {

// The verdict; Undecided only if the budget is exhausted. The errors are a history without
// timestamps or with too many transactions, and a key that is both a register and a list.
// REQUIRES: decidable(level, Evidence::Timestamps).
[[nodiscard]] Result<Verdict> check_timeline(const History& history, Level level,
                                             const Budget& budget, const CheckOptions& options);

}  // namespace ouro
