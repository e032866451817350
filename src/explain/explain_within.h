// explain() as a part of something that is limited as a whole.
#pragma once

#include "base/budget.h"
#include "ouro/explain.h"

namespace ouro {

// As explain(), within options.work_limit and `budget`, which is charged. Its limits of time and
// memory count, and not those of `options`.
[[nodiscard]] Explanation explain_within(const Budget& budget, const History& history,
                                         const Verdict& verdict, const ExplainOptions& options);

}  // namespace ouro
