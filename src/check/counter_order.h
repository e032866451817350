// Looks for an order of the transactions in which all reads of counters return what they did.
//
// It keeps session order and real time and looks at nothing but counters, so what it finds is a
// good guess of what each read saw, and no more. Transactions are run one after the other: of those
// that may come next, because all that must precede them are done, first whoever only reads and
// reads what there is now; then one that increments, and if that leads nowhere, another one. With
// few clients there are few that may come next, and what remains to be done is soon the same again.
#pragma once

#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"

namespace ouro {

// An order of transactions, unknown ones among them if they were needed; empty if none was found.
[[nodiscard]] std::vector<TxnId> order_by_counters(const Observed& observed, const Budget& budget);

}  // namespace ouro
