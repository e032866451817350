// The same history with its transactions written down session after session, without clocks.
//
// A recorder that sees all clients writes transactions down roughly in the order of their commits,
// and an engine may profit from that. Files of other tools list one session after the other: this
// makes such a history, which means the same at every level without real time.
#pragma once

#include "ouro/history.h"

namespace ouro::bench {

// REQUIRES: registers only, with whole numbers as keys and values; at most one default initial
// value. As all histories here are.
[[nodiscard]] History by_session(const History& history);

}  // namespace ouro::bench
