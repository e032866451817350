// Emme's mix of operations on one table: inserts, reads and updates by key, and by predicate.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro::bench {

struct PredicateMix {
  std::uint64_t txns = 2'500;
  std::uint32_t ops_per_txn = 5;
  std::uint64_t rows = 100;
  double predicate_share = 0.5;  // Of all but inserts.
  std::int64_t values = 1'000;   // Of the column that predicates compare,
  std::int64_t width = 10;       // of which a range takes this many.
  bool version_sets = false;     // Otherwise timestamps imply what a read saw.
  std::uint64_t lost_updates = 0;  // Read what somebody else had overwritten, and overwrite that.
  std::uint64_t seed = 1;
};

// Transactions that ran one after the other, but for lost updates.
[[nodiscard]] History make(const PredicateMix& mix);

}  // namespace ouro::bench
