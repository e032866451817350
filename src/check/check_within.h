// check() within a budget of the caller, for rooms that check often under one common limit.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "ouro/check.h"

namespace ouro {

// As check(), but limited by `budget`, which is charged for the work. The limits in `options` are
// used only to word the reason of an undecided verdict.
[[nodiscard]] Result<std::vector<Verdict>> check_within(const Budget& budget,
                                                        const History& history,
                                                        std::span<const Level> levels,
                                                        const CheckOptions& options);
[[nodiscard]] Result<Verdict> check_within(const Budget& budget, const History& history,
                                           Level level, const CheckOptions& options);

}  // namespace ouro
