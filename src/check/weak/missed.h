// What predicate reads missed although their transaction knew of it, by version orders.
//
// A predicate read that says what it saw (versions/predicate_reads.h) did not see certain changes
// of what it matches. At rc, ra and causal that is a violation if its transaction knew, as its
// level means it, of somebody who wrote such a change or a later version of its key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/budget.h"
#include "check/observed/observed.h"
#include "ouro/check.h"

namespace ouro {

// The first such read, as an anomaly; nothing if there is none. `unseen` are edges that lead to the
// first change of a key that a read did not see; of these, only those matter that
// `positions`, which is by transaction, has the other way round.
// REQUIRES: `level` is of LevelFamily::CommitOrder, and allows the order that `positions` are of.
// Cost: for each such edge, what its reader knew of that is behind that change.
[[nodiscard]] std::optional<Anomaly> find_missed(const Observed& observed, Level level,
                                                 std::span<const PredicateEdge> unseen,
                                                 std::span<const std::uint32_t> positions,
                                                 const Budget& budget);

}  // namespace ouro
