// A better guess of the order in which transactions happened, by playing the history through.
//
// A recorder writes transactions about as they commit, but some change places with a neighbour. If
// values are unique, who read from whom puts that right. If they repeat, a transaction in the wrong
// place reads what some other version left, by chance, and a search that begins there goes astray.
// So the transactions are run one after the other, as they were recorded, each as soon as all that
// it read is what is there: now at SER levels, at SI levels some time since whoever wrote what it
// writes. If none of the next few can run, the last ones are taken back and tried in another order;
// if that does not help for long, the first one runs all the same.
//
// What comes out is a guess, but where every transaction could run it leaves nothing to search.
#pragma once

#include <span>
#include <vector>

#include "check/polygraph/encoding.h"

namespace ouro {

struct Rehearsed {
  std::vector<Node> order;  // All nodes; arcs may run backward in it.
  std::size_t misfits = 0;  // Transactions that ran although they read something else.
};

// REQUIRES: `txns` are all transactions as
// they were recorded.
// Cost: some passes over the items, and at most some hundred tries where nothing fits.
[[nodiscard]] Rehearsed rehearsed(const Encoding& encoding, std::span<const Node> txns,
                                  const Budget& budget);

}  // namespace ouro
