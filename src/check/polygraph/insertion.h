// A better guess of the order in which transactions happened, by inserting one after the other.
//
// A recorder writes transactions about as they commit. Where values repeat, those that committed a
// moment earlier than they were recorded read by chance what others left, and a search that begins
// with the recorded order goes astray. So each transaction is inserted into the order of those that
// were recorded before it: at the end, or as late as all that it read is what was there, and what
// it writes makes nothing wrong that others read. At SI levels its begin is inserted, too, before
// its commit. A transaction for which there is no such place waits for the next few lines; and if
// that does not help, another one that is in the way is moved. Other than in a rehearsal
// (rehearsal.h) nothing else is ever taken back.
#pragma once

#include <span>
#include <vector>

#include "check/polygraph/encoding.h"

namespace ouro {

struct Inserted {
  std::vector<Node> order;   // All nodes; arcs may run backward in it.
  std::size_t misfits = 0;   // Transactions for which there was no place. They are at the end.
};

// REQUIRES: `txns` are all transactions as they were recorded.
// Cost: a pass over the items, and a look at some dozen places where the end is the wrong place.
[[nodiscard]] Inserted inserted(const Encoding& encoding, std::span<const Node> txns,
                                const Budget& budget);

}  // namespace ouro
