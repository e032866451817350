// A better guess of the order in which transactions happened, from who read from whom.
//
// Where a history has no clocks and comes session by session, the first guess is that every session
// ran at even speed. But who saw whom tells how sessions lie beside each other: a read comes some
// time after the write it returned, on average always the same, and so does a transaction after the
// one before it in its session. Every transaction is moved to where its neighbours say it belongs,
// for a few rounds, and held back a little by where it was: a least-squares fit. Many rounds would
// fit the noise of the reads.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "check/polygraph/encoding.h"
#include "graph/digraph.h"

namespace ouro {

// All transactions in that order; nothing if the first guess is better.
// REQUIRES: `back` is the reverse of `known`, and `nodes` is the first guess, a topological order
// of `known`.
// Cost: some passes over the arcs.
[[nodiscard]] std::optional<std::vector<Node>> aligned(const Encoding& encoding,
                                                       const Digraph& known, const Digraph& back,
                                                       std::span<const Node> nodes,
                                                       const Budget& budget);

}  // namespace ouro
