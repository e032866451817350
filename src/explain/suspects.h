// Finds likely violations by one pass over the history.
//
// A search ends with some proof that no order is possible. That may be long, while elsewhere in the
// history a plain lost update would be the better story.
#pragma once

#include <cstddef>
#include <vector>

#include "ouro/check.h"

namespace ouro {

// Up to `limit` pairs of committed transactions that both read the same value of a register and
// then wrote the key; each such update is in one pair only. They are only suspected: the caller
// must check each. Cost: one pass.
[[nodiscard]] std::vector<Anomaly> suspected_lost_updates(const History& history,
                                                          std::size_t limit);

}  // namespace ouro
