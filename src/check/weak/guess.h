// A guessed commit order, and the reads that may contradict it.
//
// All weak levels say: if T3 reads x from T1 and saw another writer T2 of x, then T2 commits before
// T1. An order meets this for every read that returns the last version before its transaction T3.
// Other reads are stale. A stale read is suspect only if a newer version was written by a
// transaction that commits no later than the last one that T3 saw: whoever commits after that was
// not seen by T3. So most histories are decided by replaying them once; suspect reads are looked at
// closely, level by level.
#pragma once

#include <span>
#include <vector>

#include "base/level_rules.h"
#include "check/observed/observed.h"
#include "graph/digraph.h"

namespace ouro {

// By transaction that takes part: the one before it in its session that does, or invalid.
[[nodiscard]] std::vector<TxnId> session_predecessors(const Observed& observed);

class Guess {
 public:
  // Replays `order`, which has every transaction once; `premise` says what a transaction saw.
  // Cost: linear, 4 bytes an item. Meaningless once the budget is exhausted.
  Guess(const Observed& observed, std::vector<Node> order, Premise premise, const Budget& budget);

  // Whether the order respects session order, reads-from, the orders that lists reveal, and what
  // predicate reads saw. Otherwise nothing below holds.
  [[nodiscard]] bool respects_known() const { return respects_known_; }

  [[nodiscard]] std::span<const Node> order() const { return order_; }
  [[nodiscard]] std::uint32_t rank(TxnId txn) const { return rank_[txn.index()]; }

  // Whether the order puts `to`, which may be the initial transaction, before `from`.
  [[nodiscard]] bool is_against(TxnId from, TxnId to) const {
    return to == kInitialTxn || rank(from) > rank(to);
  }

  // The suspect reads, in the guessed order. All reads that contradict the guess are among them.
  [[nodiscard]] std::span<const ItemId> suspects() const { return suspects_; }

  // The next version of the key in the guessed order; invalid: there is none. `version` is a final
  // write; invalid: the initial version.
  [[nodiscard]] ItemId next(KeyId key, ItemId version) const {
    return version.valid() ? next_[version.index()] : first_[key.index()];
  }

 private:
  [[nodiscard]] bool respects_all_but_reads() const;
  void replay(const Budget& budget);
  void find_suspects(Premise premise, const Budget& budget);

  const Observed* o_;
  std::vector<Node> order_;
  std::vector<std::uint32_t> rank_;
  bool respects_known_ = false;
  std::vector<ItemId> first_;  // By key: its first version.
  std::vector<ItemId> next_;   // By final write: the next version.
  std::vector<ItemId> stale_;  // Stale reads, in the guessed order.
  std::vector<ItemId> suspects_;
};

}  // namespace ouro
