// Guesses what open reads returned, so that every transaction knows of as little as possible.
//
// The levels below prefix say: if T3 reads x from T1 and knew of T2, which wrote x, too, then T2
// commits before T1. In a given order of commits this is met if every read returns the latest
// version that its transaction knew of, or a later one. So the transactions are taken in that
// order. Of those that an open read may have returned, it is given the one that its transaction
// knows of anyway, or else the first behind that; and what is known by that counts for the other
// reads. A store that shows its clients old versions does the same.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/level_rules.h"
#include "check/observed/observed.h"
#include "check/positions.h"
#include "ouro/check.h"

namespace ouro {

// The last write of a key by each transaction that takes part, with the position of its commit, in
// the order of commits.
using WritesByCommit = std::vector<std::pair<std::uint32_t, ItemId>>;
[[nodiscard]] WritesByCommit writes_by_commit(const Observed& observed, const Positions& places,
                                              KeyId key);

// What each open read returned, by this guess; without those of counters. Empty if there are too
// many transactions and sessions, or none is known to have come before (Premise::None).
// Cost: for each open read, the versions between the one that it knew of and the newest one; with
// Premise::WholePast also the sessions for each read.
[[nodiscard]] std::vector<ReadSource> careful_guess(const Observed& observed,
                                                    const Positions& places, Premise premise,
                                                    const Budget& budget);

}  // namespace ouro
