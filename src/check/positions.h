// Where the transactions of a verdict that holds begin and commit.
#pragma once

#include "check/versions/predicate_reads.h"
#include "ouro/check.h"

namespace ouro {

// The positions of begins and commits in the order of `verdict`. Where it has no schedule, a
// transaction begins and commits at its position in the order. Positions count from `first`; a
// transaction that is not in the order has the position `missing`.
[[nodiscard]] inline Positions positions_of(const History& history, const Verdict& verdict,
                                            std::uint32_t first = 0, std::uint32_t missing = 0) {
  Positions positions;
  positions.begin.resize(history.txn_count(), missing);
  std::uint32_t next = first;
  if (verdict.schedule.empty()) {
    for (const TxnId txn : verdict.order) positions.begin[txn.index()] = next++;
  }
  positions.commit = positions.begin;
  for (const Event& event : verdict.schedule) {
    (event.commit ? positions.commit : positions.begin)[event.txn.index()] = next++;
  }
  return positions;
}

}  // namespace ouro
