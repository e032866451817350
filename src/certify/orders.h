// Checks that orders and schedules explain everything that a history shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "certify/reading.h"
#include "ouro/check.h"

namespace ouro::recheck {

// What keeps a schedule of begins and commits from explaining the history at a strong level, or "".
// REQUIRES: the history has no flaw that the level forbids.
[[nodiscard]] std::string replay(const Reading& reading, Level level, std::int64_t clock_drift,
                                 std::span<const Event> schedule);

// What keeps a commit order from satisfying the axiom of rc, ra or causal, or psi, or "".
// REQUIRES: the history has no flaw that the level forbids.
[[nodiscard]] std::string check_commit_order(const Reading& reading, Level level,
                                             std::span<const TxnId> order);

// What list reads show that is not in the lists which commits in the given order make, or "".
// REQUIRES: `order` has every transaction that counts, once.
[[nodiscard]] std::string compare_lists(const Reading& reading, std::span<const TxnId> order);

// "transaction 3", as certificates number them.
[[nodiscard]] std::string txn_name(TxnId txn);

}  // namespace ouro::recheck
