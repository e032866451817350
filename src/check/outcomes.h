// By observation: which unknown transactions took effect, guessed by playing the history through.
//
// Where values repeat it is open whether a read returned what an unknown transaction wrote, and
// whether that one took part at all; and each of them doubles the cases. But mostly the history was
// recorded about as transactions committed. So they are run one after the other, as they were
// recorded, the unknown ones as if they had no effect. Where one reads something else than is
// there, it is tried whether some unknown ones before it explain that: they took effect where they
// were recorded, or they did not although they seemed to, and all others in between still fit.
#pragma once

#include <optional>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

struct GuessedOutcomes {
  // What open reads returned: of all transactions that take part then, if some version fitted.
  std::vector<ReadSource> sources;
  // Keys that predicate reads do not tell of, and that they saw as unknown transactions wrote them:
  // one for each that takes part and from which nothing else was read. What they saw of these is
  // among `sources`.
  std::vector<ReadKey> untold;
};

// Nothing if no outcome is open. With `earlier` transactions may also have seen what was there some
// lines earlier, as they do where they have snapshots, or commit before they are recorded.
// Cost: limited by the work that `budget` allows; without a limit, it may be a product of the
// unknown transactions and the history.
[[nodiscard]] std::optional<GuessedOutcomes> guess_outcomes(const Observed& observed,
                                                            bool earlier, const Budget& budget);

}  // namespace ouro
