// What is wrong with the money of a bank: totals that no transaction changes, negative balances.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// A transaction that read all counters, and what it read does not add up to what they always hold
// together.
struct WrongTotal {
  TxnId txn;
  std::int64_t counted = 0;
  std::int64_t held = 0;
};

// Those of `txns`, if every transaction that did not abort leaves the sum of all counters as it is.
// Reads behind own increments do not count. Linear in the history.
[[nodiscard]] std::vector<WrongTotal> wrong_totals(const History& history,
                                                   std::span<const TxnId> txns);

// A transaction of a bank that read a negative balance.
struct NegativeBalance {
  TxnId txn;
  OpId read;  // The first such read of the transaction.
};

// Those of `txns`, if the history is one of Jepsen's bank.
[[nodiscard]] std::vector<NegativeBalance> negative_balances(const History& history,
                                                             std::span<const TxnId> txns);

}  // namespace ouro
