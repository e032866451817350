// A breadth-first walk into the past of a transaction.
//
// All earlier transactions of a session are one step away, but listing them for each transaction
// would be quadratic. So we remember how many of the first ones of each session are listed already,
// and list none twice.

#include "check/weak/causal_path.h"

#include <algorithm>

namespace ouro {
namespace {

class PastWalk {
 public:
  PastWalk(const Observed& observed, TxnId to)
      : o_(observed),
        next_(observed.history().txn_count()),
        listed_(observed.history().session_count(), 0),
        to_(to) {}

  std::vector<TxnId> path_from(TxnId from) {
    queue_.push_back(to_);
    for (std::size_t i = 0; i < queue_.size() && !next_[from.index()].valid(); ++i) {
      visit(queue_[i]);
    }
    if (!next_[from.index()].valid()) return {};
    std::vector<TxnId> path{from};
    while (path.back() != to_) path.push_back(next_[path.back().index()]);
    return path;
  }

 private:
  void visit(TxnId txn) {
    const Items& items = o_.items();
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (items.is_read(i) && o_.external(i)) reach(o_.writer(i), txn);
    }
    const SessionId session = o_.history().session(txn);
    const auto txns = o_.history().session_txns(session);
    std::size_t& listed = listed_[session.index()];
    for (; listed < txns.size() && txns[listed] < txn; ++listed) reach(txns[listed], txn);
  }

  void reach(TxnId txn, TxnId next) {
    if (!txn.valid() || txn == to_ || !o_.counted(txn) || next_[txn.index()].valid()) return;
    next_[txn.index()] = next;
    queue_.push_back(txn);
  }

  const Observed& o_;
  // By transaction: the next one on the path to `to`; invalid: it was not reached.
  std::vector<TxnId> next_;
  std::vector<std::size_t> listed_;  // By session: how many of its first transactions are listed.
  std::vector<TxnId> queue_;
  TxnId to_;
};

}  // namespace

std::vector<TxnId> causal_path(const Observed& observed, TxnId from, TxnId to) {
  return PastWalk(observed, to).path_from(from);
}

}  // namespace ouro
