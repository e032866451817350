// A guessed commit order, and the reads that may object to it.
//
// All weak levels say: if T3 reads x from T1 and saw another writer T2 of x, then T2 commits before
// T1. An order meets that for all reads that return the last version before their transaction. Of
// the other, stale ones only those matter whose version was overwritten by someone who commits no
// later than what T3 saw last: nobody commits after all that T3 saw and yet is in T3's past. So
// most histories are decided by replaying them once; what remains is looked at closely, level by
// level.
#pragma once

#include <span>
#include <vector>

#include "base/level_rules.h"
#include "check/observed/observed.h"
#include "graph/digraph.h"

namespace ouro {

// For every transaction that takes part, the one before it in its session that does.
[[nodiscard]] std::vector<TxnId> session_predecessors(const Observed& observed);

class Guess {
 public:
  // `order` has every transaction once. Cost: linear, 4 bytes an item. Of no use once the budget is
  // exhausted.
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

  // The reads whose transaction may have seen a newer version, in the guessed order: all that
  // object to the guess, and others.
  [[nodiscard]] std::span<const ItemId> suspects() const { return suspects_; }

  // The next version of the key; invalid: there is none. `version` is a final write; invalid: the
  // initial version.
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
  std::vector<ItemId> first_;  // Of each key.
  std::vector<ItemId> next_;   // Of each final write.
  std::vector<ItemId> stale_;  // In the guessed order.
  std::vector<ItemId> suspects_;
};

}  // namespace ouro
