#include "check/weak/guess.h"

#include <algorithm>

namespace ouro {

std::vector<TxnId> session_predecessors(const Observed& observed) {
  const History& h = observed.history();
  std::vector<TxnId> before(h.txn_count());
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId last;
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (!observed.counted(txn)) continue;
      before[txn.index()] = last;
      last = txn;
    }
  }
  return before;
}

Guess::Guess(const Observed& observed, std::vector<Node> order, Premise premise,
             const Budget& budget)
    : o_(&observed), order_(std::move(order)), rank_(order_.size()) {
  for (std::size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = static_cast<std::uint32_t>(i);
  constexpr std::uint64_t kStepsPerItem = 3;
  budget.charge(kStepsPerItem * observed.items().size());
  if (budget.exhausted() || !respects_all_but_reads()) return;
  respects_known_ = true;
  replay(budget);
  if (respects_known_) find_suspects(premise, budget);
}

// Whether the order respects what it must, but for reads-from, which replay() compares.
bool Guess::respects_all_but_reads() const {
  std::vector<TxnId> last(o_->history().session_count());
  for (const Node node : order_) {
    const TxnId txn{node};
    if (!o_->counted(txn)) continue;
    TxnId& before = last[o_->history().session(txn).index()];
    if (before.valid() && before > txn) return false;
    before = txn;
  }
  const auto steps = o_->version_steps();
  const bool versions = std::all_of(steps.begin(), steps.end(), [&](const VersionStep& step) {
    return !step.from.valid() || rank(o_->txn(step.from)) < rank(o_->txn(step.to));
  });
  const auto edges = o_->predicate_edges();
  return versions && std::all_of(edges.begin(), edges.end(), [&](const PredicateEdge& edge) {
           return edge.overwrites || rank(o_->txn(edge.write)) < rank(edge.reader);
         });
}

// Runs the transactions one after the other, as if each were alone: finds the next version of every
// write, the stale reads, and reads from transactions that come later.
void Guess::replay(const Budget& budget) {
  const Items& items = o_->items();
  first_.resize(o_->history().key_count());
  next_.resize(items.size());
  std::vector<ItemId> last(o_->history().key_count());
  BudgetTicker ticker(budget);
  for (const Node node : order_) {
    const TxnId txn{node};
    if (ticker.tick()) return;
    if (!o_->counted(txn)) continue;
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (!items.is_read(i) || !o_->external(i)) continue;
      const ItemId version = o_->write(i);
      if (version == last[items.key(i).index()]) continue;
      if (version.valid() && rank(o_->txn(version)) >= rank(txn)) {
        respects_known_ = false;
        return;
      }
      stale_.push_back(i);
    }
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (!items.is_write(i) || !o_->final(i)) continue;
      ItemId& before = last[items.key(i).index()];
      (before.valid() ? next_[before.index()] : first_[items.key(i).index()]) = i;
      before = i;
    }
  }
}

// What a transaction saw: at rc, what its earlier reads returned; at ra, what all of its reads
// returned and what its session did before; at cc, its whole past. As the order respects all these,
// the last one seen at cc is the last one seen at ra.
void Guess::find_suspects(Premise premise, const Budget& budget) {
  const bool by_read = premise == Premise::EarlierReads;
  const Items& items = o_->items();
  std::vector<TxnId> before;
  if (!by_read && !stale_.empty()) before = session_predecessors(*o_);
  BudgetTicker ticker(budget);
  for (std::size_t at = 0; at < stale_.size() && !ticker.tick();) {
    const TxnId reader = o_->txn(stale_[at]);
    std::uint32_t saw = 0;  // One more than the highest rank that was seen.
    const auto see = [&](TxnId txn) {
      if (txn.valid()) saw = std::max(saw, rank(txn) + 1);
    };
    ItemId next_read = items.first(reader);
    // Sees what operations before `end` read. The rows of one scan have no order among them.
    const auto see_reads = [&](OpId end) {
      for (; next_read < items.end(reader) && items.op(next_read) < end; ++next_read.value) {
        if (items.is_read(next_read) && o_->external(next_read)) see(o_->writer(next_read));
      }
    };
    if (!by_read) {
      see(before[reader.index()]);
      see_reads(o_->history().end_op(reader));
    }
    for (; at < stale_.size() && o_->txn(stale_[at]) == reader; ++at) {
      const ItemId read = stale_[at];
      if (by_read) see_reads(items.op(read));
      if (rank(o_->txn(next(items.key(read), o_->write(read)))) < saw) suspects_.push_back(read);
    }
  }
}

}  // namespace ouro
