// Checks that orders and schedules explain everything that a history shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "certify/predicate_reads.h"
#include "certify/reading.h"
#include "ouro/check.h"

namespace ouro::recheck {

// What keeps a schedule of begins and commits from explaining the history at a strong level, or "".
// REQUIRES: the history has no flaw that the level forbids.
[[nodiscard]] std::string replay(const Reading& reading, Level level, std::int64_t clock_drift,
                                 std::span<const Event> schedule);

// What keeps a commit order from satisfying the axiom of rc, ra or causal, or psi, or "".
// REQUIRES: the history has no flaw that the level forbids.
[[nodiscard]] std::string check_commit_order(const Reading& reading,
                                             const PredicateReads& predicates, Level level,
                                             std::span<const TxnId> order);

// What keeps a schedule from explaining a history whose transactions have levels of their own, or
// "". REQUIRES: the history has no flaw that the level of its transaction forbids.
[[nodiscard]] std::string check_mixed_order(const Reading& reading, std::int64_t clock_drift,
                                            std::span<const Event> schedule);

// What keeps list reads from being prefixes of the lists that commits in the given order make, or
// "".
// REQUIRES: `order` has every transaction that counts, once.
[[nodiscard]] std::string compare_lists(const Reading& reading, std::span<const TxnId> order);

// What keeps `order` from agreeing with the version orders that the history states, or "".
// REQUIRES: as above.
[[nodiscard]] std::string compare_orders(const Reading& reading, std::span<const TxnId> order);

// What keeps a schedule from agreeing with what predicate reads saw by version orders, or "". At
// psi this is only what they must follow; the rest is a part of check_commit_order(). REQUIRES:
// every transaction that counts begins and commits once, and the version orders are kept.
[[nodiscard]] std::string compare_predicates(const Reading& reading,
                                             const PredicateReads& predicates, Level level,
                                             std::span<const Event> schedule);

// "transaction 3", as certificates number them.
[[nodiscard]] std::string txn_name(TxnId txn);

// What keeps an event from being one of a schedule: its transaction is none of the history, or does
// not count; or "".
[[nodiscard]] std::string misplaced(const Reading& reading, const Event& event);

// By transaction: the one before it in its session, of those that `takes_part` accepts; not valid
// if there is none.
template <class TakesPart>
[[nodiscard]] std::vector<TxnId> before_in_sessions(const History& history,
                                                    const TakesPart& takes_part) {
  std::vector<TxnId> out(history.txn_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    TxnId before;
    for (const TxnId txn : history.session_txns(SessionId{s})) {
      if (!takes_part(txn)) continue;
      out[txn.index()] = before;
      before = txn;
    }
  }
  return out;
}

}  // namespace ouro::recheck
