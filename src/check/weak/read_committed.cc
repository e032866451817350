// Read committed: T3 reads x from T1, and an earlier read of T3 returned something of T2, which
// writes x too: then T2 commits before T1.
//
// For every T3 and every T2 it read from, the keys in question are those that T2 writes and T3
// reads: we walk the smaller of the two sets. Over all pairs this is O(n^1.5), because a
// transaction of more than √n operations occurs at most √n times.
//
// If T3 reads x several times, each returned version must be no older than the one before; so T2
// needs an edge only to the first different version read after T2 was seen.

#include <algorithm>

#include "check/weak/read_set.h"
#include "check/weak/weak.h"
#include "check/weak/written_keys.h"

namespace ouro {

namespace {

class ReadCommitted {
 public:
  ReadCommitted(const Observed& observed, const Guess* guess)
      : o_(observed), guess_(guess), written_(observed), set_(observed) {}

  // Infers what the reads of one transaction T3 force. Returns how many keys were looked at.
  std::uint32_t txn(TxnId txn) {
    set_.fill(txn);
    std::size_t looked = set_.reads().size();
    if (looked < 2) return 1;
    looked += for_each_written(set_, written_,
                               [&](const ReadSet::Writer& t2, ItemId read) { infer(t2, read); });
    return static_cast<std::uint32_t>(looked);
  }

  [[nodiscard]] std::vector<ForcedEdge>& forced() { return forced_; }

 private:
  void infer(const ReadSet::Writer& t2, ItemId read) {
    // The rows of one scan have no order, so none of them was read before another.
    const OpId saw = o_.items().op(t2.saw);
    const auto passed = [&] { return o_.items().op(read) <= saw || o_.writer(read) == t2.txn; };
    while (read.valid() && passed()) read = set_.next(read);
    if (!read.valid()) return;
    const ForcedEdge edge{t2.txn, o_.writer(read), read, t2.saw};
    if (guess_ == nullptr || guess_->is_against(edge.from, edge.to)) forced_.push_back(edge);
  }

  const Observed& o_;
  const Guess* guess_;
  const WrittenKeys written_;
  ReadSet set_;
  std::vector<ForcedEdge> forced_;
};

}  // namespace

std::vector<ForcedEdge> infer_read_committed(const Observed& observed, const Guess* guess,
                                             const Budget& budget) {
  if (guess != nullptr && guess->suspects().empty()) return {};
  ReadCommitted inference(observed, guess);
  BudgetTicker ticker(budget, 4096, 4);
  if (guess != nullptr) {
    TxnId last;
    for (const ItemId read : guess->suspects()) {
      const TxnId txn = observed.txn(read);
      if (ticker.tick(txn != last ? inference.txn(txn) : 1)) break;
      last = txn;
    }
  } else {
    for (std::size_t t = 0; t < observed.history().txn_count(); ++t) {
      if (ticker.tick(observed.counted(TxnId{t}) ? inference.txn(TxnId{t}) : 1)) break;
    }
  }
  return std::move(inference.forced());
}

}  // namespace ouro
