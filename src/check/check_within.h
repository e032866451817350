// check() for those who have a budget of their own: rooms that check often and count what it takes.
#pragma once

#include <span>
#include <vector>

#include "base/budget.h"
#include "ouro/check.h"

namespace ouro {

// As check(), but the limits are those of `budget`, which is charged for the work; the ones in
// `options` only appear in the reason of an undecided verdict.
[[nodiscard]] Result<std::vector<Verdict>> check_within(const Budget& budget,
                                                        const History& history,
                                                        std::span<const Level> levels,
                                                        const CheckOptions& options);
[[nodiscard]] Result<Verdict> check_within(const Budget& budget, const History& history,
                                           Level level, const CheckOptions& options);

}  // namespace ouro
