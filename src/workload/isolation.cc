#include "workload/isolation.h"

#include <algorithm>

#include "base/level_rules.h"

namespace ouro::workload {

void Isolation::begin_unchecked(OpenTxn& txn) {
  txn.start = store_.timeline.begin(0, store_.last_commit[txn.session]);
}

void Isolation::commit_unchecked(OpenTxn& txn) {
  const Position position = store_.timeline.commit();
  txn.commit = position;
  accept(txn);
  install(txn, position);
}

// A list gets every element. A register gets only the last value that the transaction wrote; the
// values before are intermediate and never become versions.
void Isolation::install(OpenTxn& txn, Position position) {
  txn.commit = position;
  store_.last_commit[txn.session] = position;
  for (const PendingWrite& write : txn.writes) {
    if (!store_.lists && txn.find_write(write.key) != &write) continue;
    store_.versions.install(write.key,
                            {.at = position, .value = write.value, .session = txn.session});
  }
}

bool Isolation::all_seen_are_newest(const OpenTxn& txn) const {
  return std::all_of(txn.seen.begin(), txn.seen.end(), [this](const SeenVersion& seen) {
    return seen.version == store_.versions.newest(seen.key);
  });
}

bool Isolation::pinned_are_newest(const OpenTxn& txn) const {
  return std::all_of(txn.seen.begin(), txn.seen.end(), [this](const SeenVersion& seen) {
    return !seen.pinned || seen.version == store_.versions.newest(seen.key);
  });
}

std::unique_ptr<Isolation> make_isolation(Level level, StoreState& store) {
  switch (rules(level).store) {
    case StoreKind::ReadRules:
      return make_read_rules(level, store);
    case StoreKind::Replicated:
      return make_replicated(level, store);
    case StoreKind::Snapshots:
      return make_snapshots(level, store);
    case StoreKind::Serial:
      return make_serial(level, store);
    case StoreKind::None:
      break;
  }
  return nullptr;
}

}  // namespace ouro::workload
