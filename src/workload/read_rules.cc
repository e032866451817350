// Read committed and read atomic, by keeping the rules of these levels (docs/levels.md) and nothing
// else.
//
// A read draws a version between a few events ago and now, as if from a random replica. Then:
//
//   rc  If the transaction read from a transaction that wrote a later version of this key, it sees
//       that version instead.
//   ra  The same, also for versions that its own session wrote before. And if the writer of the
//       version overwrote anything that the transaction read, it sees the oldest version instead
//       that the other rules allow. That one is always right: it was also a lower bound for the
//       earlier reads, so its writer overwrote nothing of what they saw.
//
// So at ra a transaction never sees two versions of a key, as the writer of the later one overwrote
// the earlier one.
#include <algorithm>

#include "base/level_rules.h"
#include "workload/isolation.h"

namespace ouro::workload {
namespace {

class ReadRules final : public Isolation {
 public:
  ReadRules(Level level, StoreState& store)
      : Isolation(store), atomic_(rules(level).premise != Premise::EarlierReads) {}

  void begin(OpenTxn& txn) override {
    txn.start = store_.timeline.begin(0, store_.last_commit[txn.session]);
  }

  std::uint32_t read(OpenTxn& txn, std::uint32_t key) override {
    const Versions& versions = store_.versions;
    const std::int64_t lag = Timeline::draw_lag(store_.random);
    const Position position = store_.timeline.now() - lag * Timeline::kTicks;
    const std::uint32_t drawn = versions.newest_at(key, position);
    if (!atomic_) return at_least_what_was_seen(txn, key, drawn);

    const std::uint32_t version =
        at_least_what_was_seen(txn, key, at_least_own_session(txn, key, drawn));
    if (!overwrites_what_was_seen(txn, key, version)) return version;
    // No read of this transaction draws a version from before this.
    const Position oldest = txn.start - (Timeline::kMaxLag + 1) * Timeline::kTicks;
    const std::uint32_t lowest = versions.newest_at(key, oldest);
    return at_least_what_was_seen(txn, key, at_least_own_session(txn, key, lowest));
  }

  bool commit(OpenTxn& txn) override {
    if (!pinned_are_newest(txn)) return false;
    install(txn, store_.timeline.commit());
    return true;
  }

 private:
  // The latest of `version` and the versions of `key` by transactions that `txn` read from.
  [[nodiscard]] std::uint32_t at_least_what_was_seen(const OpenTxn& txn, std::uint32_t key,
                                                     std::uint32_t version) const {
    const Versions& versions = store_.versions;
    for (const SeenVersion& seen : txn.seen) {
      const Position writer = versions.at(seen.key, seen.version);
      if (writer > versions.at(key, version)) {
        version = std::max(version, versions.written_at(key, writer));
      }
    }
    return version;
  }

  // The later of `version` and the last version of `key` that the session of `txn` wrote.
  [[nodiscard]] std::uint32_t at_least_own_session(const OpenTxn& txn, std::uint32_t key,
                                                   std::uint32_t version) const {
    const auto all = store_.versions.of(key);
    for (std::uint32_t later = store_.versions.newest(key); later > version; --later) {
      if (all[later - 1].session == txn.session) return later;
    }
    return version;
  }

  // Whether the writer of `version` also wrote a later version of something that `txn` read.
  [[nodiscard]] bool overwrites_what_was_seen(const OpenTxn& txn, std::uint32_t key,
                                              std::uint32_t version) const {
    const Versions& versions = store_.versions;
    const Position writer = versions.at(key, version);
    return std::any_of(txn.seen.begin(), txn.seen.end(), [&](const SeenVersion& seen) {
      return writer > versions.at(seen.key, seen.version) &&
             versions.written_at(seen.key, writer) != 0;
    });
  }

  bool atomic_;
};

}  // namespace

std::unique_ptr<Isolation> make_read_rules(Level level, StoreState& store) {
  return std::make_unique<ReadRules>(level, store);
}

}  // namespace ouro::workload
