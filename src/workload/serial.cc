// The serializable family: optimistic concurrency with commits in the past.
//
// A transaction reads a snapshot, and commits
//   now,              if all that it read is still the newest version; else
//   at its snapshot,  if nobody read or overwrote what it writes at a later position; else never.
// The positions of the commits are a serial order. Only a commit at the snapshot can make a
// difference between the levels: at ser the snapshot may lie before the last commit of the session;
// at session-ser it may lie before commits of other sessions only; at strict-ser it is taken at the
// begin.
//
// A transaction that commits now gets a start timestamp right before its commit. Its reads are
// right there, too, and blind writes that were committed in between are then no conflict.
#include <algorithm>
#include <vector>

#include "base/level_rules.h"
#include "workload/isolation.h"

namespace ouro::workload {
namespace {

class Serial final : public Isolation {
 public:
  Serial(Level level, StoreState& store)
      : Isolation(store),
        lags_(rules(level).real_time != RealTimeRule::SeesIt),
        keeps_sessions_(rules(level).sessions),
        last_read_(store.versions.key_count(), 0) {}

  void begin(OpenTxn& txn) override {
    const std::int64_t lag = lags_ ? Timeline::draw_lag(store_.random) : 0;
    const Position floor = keeps_sessions_ ? store_.last_commit[txn.session] : 0;
    txn.start = store_.timeline.begin(lag, floor);
  }

  std::uint32_t read(OpenTxn& txn, std::uint32_t key) override {
    mark_read(key, txn.start);
    return store_.versions.newest_at(key, txn.start);
  }

  bool commit(OpenTxn& txn) override {
    if (all_seen_are_newest(txn)) {
      const Position position = store_.timeline.commit();
      txn.start = position - 1;
      for (const SeenVersion& seen : txn.seen) mark_read(seen.key, position);
      install(txn, position);
      return true;
    }
    if (!fits_at_snapshot(txn)) return false;
    install(txn, txn.start + 1);
    return true;
  }

 protected:
  void accept(const OpenTxn& txn) override {
    for (const SeenVersion& seen : txn.seen) mark_read(seen.key, txn.commit);
  }

 private:
  [[nodiscard]] bool fits_at_snapshot(const OpenTxn& txn) const {
    return std::all_of(txn.writes.begin(), txn.writes.end(), [&](const PendingWrite& write) {
      const auto all = store_.versions.of(write.key);
      const bool overwritten = !all.empty() && all.back().at > txn.start;
      const bool read = write.key < last_read_.size() && last_read_[write.key] > txn.start;
      return !overwritten && !read;
    });
  }

  void mark_read(std::uint32_t key, Position position) {
    if (key >= last_read_.size()) last_read_.resize(key + std::size_t{1}, 0);
    last_read_[key] = std::max(last_read_[key], position);
  }

  bool lags_;
  bool keeps_sessions_;
  std::vector<Position> last_read_;  // By key: the latest position at which it may have been read.
};

}  // namespace

std::unique_ptr<Isolation> make_serial(Level level, StoreState& store) {
  return std::make_unique<Serial>(level, store);
}

}  // namespace ouro::workload
