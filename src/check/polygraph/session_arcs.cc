#include "check/polygraph/session_arcs.h"

namespace ouro {
namespace {

bool writes_something(const Observed& observed, TxnId txn) {
  const Items& items = observed.items();
  for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
    if (items.is_write(i)) return true;
  }
  return false;
}

}  // namespace

std::vector<Arc> session_arcs(const Encoding& encoding, KeptBySessions kept) {
  const Observed& observed = encoding.observed();
  const History& h = observed.history();
  const bool commits = kept == KeptBySessions::Commits;
  std::vector<Arc> arcs;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId before;
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (!observed.counted(txn)) continue;
      if (commits && !encoding.split() && !writes_something(observed, txn)) continue;
      if (before.valid()) {
        const bool to_commit = commits || !encoding.split();
        arcs.push_back(
            {encoding.commit(before), to_commit ? encoding.commit(txn) : encoding.begin(txn)});
      }
      before = txn;
    }
  }
  return arcs;
}

}  // namespace ouro
