// The version orders that a history states, for the oracles.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ouro/history.h"
#include "tests/observed.h"

namespace ouro::oracle {

using Order = std::vector<std::size_t>;  // Transactions of an Observed, first to last.

// Writers in the order in which their versions of a key are listed.
struct Stated {
  KeyId key;
  Order writers;
};

// Those of `history` or, if it has none, those that its commit timestamps give. Nothing if a listed
// version is of a transaction that does not count, or a complete order lacks the last write of one
// that does.
[[nodiscard]] std::optional<std::vector<Stated>> stated_orders(const History& history,
                                                               const Observed& seen);

}  // namespace ouro::oracle
