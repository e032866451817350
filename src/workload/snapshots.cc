// Prefix consistency and the snapshot isolation family: a snapshot is a prefix of the commits.
//
//   If the level has       the store
//   sessions               takes the snapshot after the session's last commit
//   RealTimeRule::SeesIt   takes the snapshot when the transaction begins; else some time before
//   no lost_updates        refuses to commit if another writer of a key did since the snapshot
//
// Commits happen in real time, so levels that differ only in the order of commits (si and gsi) have
// the same store. If a transaction would be refused, but nothing that it read has changed since, it
// may as well have begun now: then it does, and commits; unless somebody knows when it began, and
// the level has real time.
#include "base/level_rules.h"
#include "workload/isolation.h"

namespace ouro::workload {
namespace {

class Snapshots final : public Isolation {
 public:
  Snapshots(Level level, StoreState& store)
      : Isolation(store),
        lags_(rules(level).real_time != RealTimeRule::SeesIt),
        keeps_sessions_(rules(level).sessions),
        refuses_conflicts_(!rules(level).lost_updates),
        keeps_begins_(store.keeps_begins && rules(level).clocks()) {}

  void begin(OpenTxn& txn) override {
    const std::int64_t lag = lags_ ? Timeline::draw_lag(store_.random) : 0;
    const Position floor = keeps_sessions_ ? store_.last_commit[txn.session] : 0;
    txn.start = store_.timeline.begin(lag, floor);
  }

  std::uint32_t read(OpenTxn& txn, std::uint32_t key) override {
    return store_.versions.newest_at(key, txn.start);
  }

  bool commit(OpenTxn& txn) override {
    if (!pinned_are_newest(txn)) return false;
    const bool lost = refuses_conflicts_ && has_conflict(txn);
    if (lost && (keeps_begins_ || !all_seen_are_newest(txn))) return false;
    const Position position = store_.timeline.commit();
    if (lost) txn.start = position - 1;
    install(txn, position);
    return true;
  }

 private:
  [[nodiscard]] bool has_conflict(const OpenTxn& txn) const {
    for (const PendingWrite& write : txn.writes) {
      const auto all = store_.versions.of(write.key);
      if (!all.empty() && all.back().at > txn.start) return true;
    }
    return false;
  }

  bool lags_;
  bool keeps_sessions_;
  bool refuses_conflicts_;
  bool keeps_begins_;
};

}  // namespace

std::unique_ptr<Isolation> make_snapshots(Level level, StoreState& store) {
  return std::make_unique<Snapshots>(level, store);
}

}  // namespace ouro::workload
