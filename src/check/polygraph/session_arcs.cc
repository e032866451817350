#include "check/polygraph/session_arcs.h"

#include <span>
#include <utility>

namespace ouro {
namespace {

bool writes_something(const Observed& observed, TxnId txn) {
  const Items& items = observed.items();
  for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
    if (items.is_write(i)) return true;
  }
  return false;
}

// Adds the arcs of a session at a level at which a transaction is one node, as far as it keeps the
// order of commits: who writes is behind those before that write. Who only reads may have missed
// the last of these, or even more, but nothing tells that it saw what came later.
void add_commits(const Encoding& encoding, std::span<const TxnId> txns, std::vector<Arc>& arcs) {
  TxnId before;                // The last one that writes,
  TxnId earlier;               // and the one before that.
  std::vector<TxnId> readers;  // Those behind it.
  for (const TxnId txn : txns) {
    if (!writes_something(encoding.observed(), txn)) {
      if (earlier.valid()) arcs.push_back({encoding.commit(earlier), encoding.commit(txn)});
      readers.push_back(txn);
      continue;
    }
    if (before.valid()) arcs.push_back({encoding.commit(before), encoding.commit(txn)});
    for (const TxnId reader : readers) {
      arcs.push_back({encoding.commit(reader), encoding.commit(txn)});
    }
    readers.clear();
    earlier = std::exchange(before, txn);
  }
}

}  // namespace

std::vector<Arc> session_arcs(const Encoding& encoding, KeptBySessions kept) {
  const Observed& observed = encoding.observed();
  const History& h = observed.history();
  std::vector<Arc> arcs;
  std::vector<TxnId> txns;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    txns.clear();
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (observed.counted(txn)) txns.push_back(txn);
    }
    if (kept == KeptBySessions::Commits && !encoding.split()) {
      add_commits(encoding, txns, arcs);
      continue;
    }
    const bool to_commit = kept == KeptBySessions::Commits || !encoding.split();
    for (std::size_t i = 1; i < txns.size(); ++i) {
      const Node to = to_commit ? encoding.commit(txns[i]) : encoding.begin(txns[i]);
      arcs.push_back({encoding.commit(txns[i - 1]), to});
    }
  }
  return arcs;
}

}  // namespace ouro
