// What the transactions of a mixture of levels know of others, in a given order of all of them, and
// what the rules of their levels make of it.
//
// The rules of rc, ra, cc and parallel-si are of one form: if T3 reads x from T1 and knows of
// another writer T2 of x, then T2 precedes T1. At the first three, whom T3 knows of does not depend
// on the order. At parallel-si it does: T3 also knows of whom it, or somebody it knows of,
// overwrote.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "check/observed/mixture.h"
#include "check/observed/observed.h"

namespace ouro {

// A reader at parallel-si and a version that it missed, in the order at hand.
struct Missed {
  Edge overwritten;         // From the reader to who wrote that version.
  TxnId source;             // Whose version the reader read instead.
  std::vector<Edge> known;  // Why the reader knows of it: a path of so, wr and ww edges back to it.
};

class MixedKnowledge {
 public:
  // `levels` are those that the transactions state; `mixture` has others in place of parallel-si.
  MixedKnowledge(const Observed& observed, const Mixture& mixture, const std::vector<Level>& levels,
                 const Budget& budget);

  // By transaction, in an order of all that count.
  using Positions = std::vector<std::uint32_t>;
  // The edges that the rules of rc, ra and cc force and that run backward.
  [[nodiscard]] std::vector<Edge> backward(const Positions& positions);
  // What a reader at parallel-si missed, if any did. REQUIRES: backward(positions) is empty.
  [[nodiscard]] std::optional<Missed> missed(const Positions& positions);

 private:
  // How the reader at hand came to know of a transaction: through `next`, which saw it; or, if
  // `key` is valid, which overwrote its version of `key`.
  struct Step {
    TxnId next;
    KeyId key;
  };

  [[nodiscard]] std::uint32_t position(TxnId txn) const {
    return txn == kInitialTxn ? 0 : (*positions_)[txn.index()] + 1;
  }
  void note_sessions();
  template <class F>
  void for_each_read(const F& f);
  void know(ItemId write, ItemId read, ItemId saw);
  void earlier_reads();
  void direct_past();
  void whole_past();
  void visit(TxnId txn, Step step);
  void visit_session(TxnId txn);
  void visit_overwritten(ItemId write);
  [[nodiscard]] ItemId seen_by(TxnId writer) const;
  [[nodiscard]] Edge step_from(TxnId known) const;

  const Observed& o_;
  const History& h_;
  const Mixture& mixture_;
  const std::vector<Level>& levels_;
  BudgetTicker ticker_;
  // By transaction: the last one before it in its session whose level asks for session order.
  std::vector<TxnId> asked_before_;
  absl::flat_hash_map<std::pair<SessionId, KeyId>, std::vector<ItemId>> writers_;
  const Positions* positions_ = nullptr;
  TxnId reader_;
  bool follows_overwrites_ = false;  // Whether the reader knows of whom others overwrote.
  absl::flat_hash_map<KeyId, std::vector<ItemId>> reads_;  // Of the reader.
  absl::flat_hash_map<TxnId, Step> past_;
  std::vector<TxnId> queue_;
  std::vector<Edge> out_;
};

}  // namespace ouro
