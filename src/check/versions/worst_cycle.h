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

// REQUIRES: no edge is by the rule of a weak level.
[[nodiscard]] CycleKind kind_of(std::span<const Edge> cycle);

// Whether the history tells, by complete version orders or by timestamps, the order of all
// versions.
[[nodiscard]] bool has_complete_orders(const History& history);

// Of the cycles within `component` that `level` forbids a shortest one of the worst kind, every
// edge of which may pass over versions in between. Nothing if some order of versions is not
// complete, or there are two of them, or there is no cycle, or the budget does not last.
// Cost: a search from each of the transactions. In components so large that this takes too long the
// kind is still the worst if it has no overwritten read; otherwise, and its length, are the best
// that was found by then.
// REQUIRES: `level` is above causal; `component` is sorted and counted.
[[nodiscard]] std::vector<Edge> worst_cycle(const Observed& observed, Level level,
                                            std::int64_t clock_drift,
                                            std::span<const TxnId> component, const Budget& budget);

}  // namespace ouro
