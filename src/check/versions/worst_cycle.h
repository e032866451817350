// The worst cycle among transactions whose order of versions is known.
//
// Kinds of cycles, from the worst: of overwrites alone (G0); of overwrites and reads-from (G1c);
// with one overwritten read (G-single); with several, but no two in a row (G-nonadjacent); any
// other (G2). The weaker a level, the fewer of them it forbids. Session order and real time, where
// the level looks at them, belong to all kinds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

enum class CycleKind : std::uint8_t { Overwrites, Flow, Single, Nonadjacent, Any };

// The kind of a cycle. REQUIRES: no edge is EdgeKind::Forced.
[[nodiscard]] CycleKind kind_of(std::span<const Edge> cycle);

// Whether the history says, by complete version orders or by timestamps, how all versions are
// ordered.
[[nodiscard]] bool has_complete_orders(const History& history);

// A shortest cycle of the worst kind among those within `component` that `level` forbids. A ww or
// rw edge may pass over versions in between. Empty if there is no cycle, if a key has no complete
// version order or two of them, or if the budget does not last.
// Cost: a search from each of the transactions. If that takes too long, as in very large
// components, a kind without overwritten reads is still the worst one; any other kind, and the
// length, are the best that was found by then.
// REQUIRES: `level` is above causal; `component` is sorted, and all in it take part.
[[nodiscard]] std::vector<Edge> worst_cycle(const Observed& observed, Level level,
                                            std::int64_t clock_drift,
                                            std::span<const TxnId> component, const Budget& budget);

}  // namespace ouro
