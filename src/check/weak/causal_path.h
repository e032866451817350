// How a transaction came to see the effects of another.
#pragma once

#include <vector>

#include "check/observed/observed.h"

namespace ouro {

// The transactions of a shortest path of session order and reads-from from `from` to `to`, both
// included; empty if there is none. A step of session order may skip transactions.
// Cost: the operations of the past of `to`, and eight bytes a transaction of the history.
[[nodiscard]] std::vector<TxnId> causal_path(const Observed& observed, TxnId from, TxnId to);

}  // namespace ouro
