#include "explain/suspects.h"

#include <absl/container/flat_hash_map.h>

#include <utility>

namespace ouro {
namespace {

// A transaction's read of a key, and its write of the key after that.
struct Update {
  OpId read;
  OpId write;
};

// The first write of `key` in the transaction from `id` on; invalid if there is none.
OpId write_behind(const History& history, OpId id, OpId end, KeyId key) {
  for (; id < end; ++id.value) {
    const Op op = history.op(id);
    if (op.key == key && is_write(op.kind)) return id;
  }
  return {};
}

// Whether the transaction touched the key before, so that the read at `id` says nothing new.
bool touched(const History& history, OpId first, OpId id, KeyId key) {
  for (OpId earlier = first; earlier < id; ++earlier.value) {
    if (history.op(earlier).key == key) return true;
  }
  return false;
}

}  // namespace

std::vector<Anomaly> suspected_lost_updates(const History& history, std::size_t limit) {
  std::vector<Anomaly> out;
  absl::flat_hash_map<std::pair<KeyId, Value>, Update> updates;
  for (std::size_t t = 0; t < history.txn_count() && out.size() < limit; ++t) {
    const TxnId txn{t};
    if (history.status(txn) != TxnStatus::Committed) continue;
    const OpId first = history.first_op(txn);
    const OpId end = history.end_op(txn);
    for (OpId id = first; id < end; ++id.value) {
      const Op op = history.op(id);
      if (!is_read(op.kind) || op.value.is_list() || op.value.is_unobserved()) continue;
      const OpId write = write_behind(history, id, end, op.key);
      if (!write.valid() || touched(history, first, id, op.key)) continue;
      const auto [at, added] = updates.try_emplace({op.key, op.value}, Update{id, write});
      if (added) continue;
      const Update other = at->second;
      out.push_back({.kind = AnomalyKind::ForbiddenCycle,
                     .txns = {history.txn_of(other.read), txn},
                     .ops = {other.read, other.write, id, write},
                     .edges = {}});
      updates.erase(at);
      break;
    }
  }
  return out;
}

}  // namespace ouro
