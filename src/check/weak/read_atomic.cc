// Read atomic: T3 reads x from T1, and T3 read anything from T2, or comes after T2 in its session,
// and T2 writes x too: then T2 commits before T1.
//
// For reads, as in read_committed.cc, we walk the smaller of the keys that T2 writes and T3 reads.
// For sessions, only the last writer of x before T3 matters: earlier ones precede it anyway.

#include <algorithm>

#include "check/weak/read_set.h"
#include "check/weak/weak.h"
#include "check/weak/written_keys.h"

namespace ouro {
namespace {

class ReadAtomic {
 public:
  ReadAtomic(const Observed& observed, const Guess* guess, const Budget& budget)
      : o_(observed),
        guess_(guess),
        ticker_(budget, 4096, 4),
        written_(observed),
        set_(observed),
        last_writer_(observed.history().key_count()) {
    if (guess == nullptr) return;
    suspect_.resize(observed.history().txn_count());
    for (const ItemId read : guess->suspects()) suspect_[observed.txn(read).index()] = true;
  }

  std::vector<ForcedEdge> run() {
    const History& h = o_.history();
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      for (const TxnId txn : h.session_txns(SessionId{s})) {
        if (ticker_.tick()) return std::move(forced_);
        if (!o_.counted(txn)) continue;
        if (guess_ == nullptr || suspect_[txn.index()]) {
          set_.fill(txn);
          through_session(SessionId{s});
          if (ticker_.tick(through_reads())) return std::move(forced_);
        }
        for (const KeyId key : written_.of(txn)) last_writer_[key.index()] = txn;
      }
    }
    return std::move(forced_);
  }

 private:
  // Infers from earlier transactions of T3's session.
  void through_session(SessionId session) {
    for (const ItemId read : set_.reads()) {
      const TxnId last = last_writer_[o_.items().key(read).index()];
      // A writer of another session was left from before, and does not count.
      if (last.valid() && o_.history().session(last) == session) infer(last, read, ItemId{});
    }
  }

  // Infers from the transactions that T3 read from. Returns how many keys were looked at.
  std::uint32_t through_reads() {
    std::size_t looked = set_.reads().size();
    if (looked < 2) return 1;
    looked += for_each_written(
        set_, written_, [&](const ReadSet::Writer& t2, ItemId read) { infer_all(t2, read); });
    return static_cast<std::uint32_t>(looked);
  }

  // Infers for `read` and the later reads of its key.
  void infer_all(const ReadSet::Writer& t2, ItemId read) {
    for (; read.valid(); read = set_.next(read)) infer(t2.txn, read, t2.saw);
  }

  void infer(TxnId t2, ItemId read, ItemId saw) {
    const TxnId t1 = o_.writer(read);
    if (t1 == t2 || (guess_ != nullptr && !guess_->is_against(t2, t1))) return;
    forced_.push_back({t2, t1, read, saw});
  }

  const Observed& o_;
  const Guess* guess_;
  BudgetTicker ticker_;
  const WrittenKeys written_;
  ReadSet set_;
  std::vector<TxnId> last_writer_;  // By key; of the session at hand, or of one before.
  // By transaction, if there is a guess: whether it has a suspect read.
  std::vector<bool> suspect_;
  std::vector<ForcedEdge> forced_;
};

}  // namespace

std::vector<ForcedEdge> infer_read_atomic(const Observed& observed, const Guess* guess,
                                          const Budget& budget) {
  if (guess != nullptr && guess->suspects().empty()) return {};
  return ReadAtomic(observed, guess, budget).run();
}

}  // namespace ouro
