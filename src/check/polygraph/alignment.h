// A better guess of the order in which transactions happened, from who read from whom.
//
// Where a history has no clocks and comes session by session, the first guess is that every session
// ran at even speed. But who saw whom tells how sessions lie beside each other: a read comes some
// time after the write it returned, the sooner the more often its key is written, and so does a
// transaction after the one before it in its session. A least-squares fit finds times that agree
// with both. It is solved session by session, each as a whole, with the others where they are, a
// few times: that moves whole sessions at once, where moving one transaction after the other would
// take hundreds of rounds.
//
// A read that several transactions may have written tells something, too, as soon as the fit says
// which of them was likely the one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/digraph.h"

namespace ouro {

// All transactions in that order; nothing if no key is written often
// enough for its reads to tell anything.
// REQUIRES: `nodes` is the first guess, an order of all nodes.
// Cost: some passes over the items.
[[nodiscard]] std::optional<std::vector<Node>> aligned(const Encoding& encoding,
                                                       std::span<const Node> nodes,
                                                       const Budget& budget);

}  // namespace ouro
