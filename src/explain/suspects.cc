#include "explain/suspects.h"

#include <absl/container/flat_hash_map.h>

#include <utility>

#include "explain/lost_update.h"

namespace ouro {

std::vector<Anomaly> suspected_lost_updates(const History& history, std::size_t limit) {
  std::vector<Anomaly> out;
  absl::flat_hash_map<std::pair<KeyId, Value>, Update> updates;
  for (std::size_t t = 0; t < history.txn_count() && out.size() < limit; ++t) {
    const TxnId txn{t};
    if (history.status(txn) != TxnStatus::Committed) continue;
    const OpId first = history.first_op(txn);
    const OpId end = history.end_op(txn);
    for (OpId id = first; id < end; ++id.value) {
      const auto update = update_at(history, id);
      if (!update || history.op(id).value.is_list()) continue;
      const Op op = history.op(id);
      const auto [at, added] = updates.try_emplace({op.key, op.value}, *update);
      if (added) continue;
      const Update other = at->second;
      out.push_back({.kind = AnomalyKind::ForbiddenCycle,
                     .txns = {history.txn_of(other.read), txn},
                     .ops = {other.read, other.write, id, update->write},
                     .edges = {}});
      updates.erase(at);
      break;
    }
  }
  return out;
}

}  // namespace ouro
