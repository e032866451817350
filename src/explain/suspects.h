// Violations that one glance at the history may find.
//
// A search ends with any proof that no order is left, which may be long-winded where a plain lost
// update stands elsewhere in the history. That one is the better story.
#pragma once

#include <cstddef>
#include <vector>

#include "ouro/check.h"

namespace ouro {

// Up to `limit` pairs of transactions that both read a version of a key and then wrote the key;
// each transaction in one pair only. To be checked: who aborted, or whom nobody saw, may be among
// them. Cost: one pass.
[[nodiscard]] std::vector<Anomaly> suspected_lost_updates(const History& history,
                                                          std::size_t limit);

}  // namespace ouro
