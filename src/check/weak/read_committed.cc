// Read committed: T3 reads x from T1, and an earlier read of T3 returned something of T2, which
// writes x too: then T2 commits before T1.
//
// For every T3 and every T2 it read from, the keys in question are those that T2 writes and T3
// reads: we walk the smaller of the two sets. Over all pairs this is O(n^1.5), because a
// transaction of more than √n operations occurs at most √n times.
//
// If T3 reads x several times, each returned version must be no older than the one before; so T2
// needs an edge only to the first different version read after T2 was seen.

#include "check/weak/read_set.h"
#include "check/weak/weak.h"
#include "check/weak/written_keys.h"

namespace ouro {

std::vector<ForcedEdge> infer_read_committed(const Observed& observed, const Budget& budget) {
  const WrittenKeys written(observed);
  ReadSet set(observed);
  std::vector<ForcedEdge> forced;
  const auto infer = [&](const ReadSet::Writer& t2, ItemId read) {
    while (read.valid() && (read <= t2.saw || observed.writer(read) == t2.txn))
      read = set.next(read);
    if (read.valid()) forced.push_back({t2.txn, observed.writer(read), read, t2.saw});
  };
  BudgetTicker ticker(budget);
  for (std::size_t t = 0; t < observed.history().txn_count() && !ticker.tick(); ++t) {
    if (!observed.counted(TxnId{t})) continue;
    set.fill(TxnId{t});
    if (set.reads().size() < 2) continue;
    for (const ReadSet::Writer& t2 : set.writers()) {
      const auto keys = written.of(t2.txn);
      if (keys.size() <= set.keys().size()) {
        for (const KeyId key : keys) infer(t2, set.first_read(key));
      } else {
        for (const auto& [key, read] : set.keys()) {
          if (written.writes(t2.txn, key)) infer(t2, read);
        }
      }
    }
  }
  return forced;
}

}  // namespace ouro
