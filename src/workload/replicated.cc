// Causal consistency and parallel snapshot isolation, by replicas that gossip.
//
// A session stays with one replica. A replica's state is, for each replica, up to where it knows
// that one's commits; a transaction reads from the state as it was at its begin, and of a key it
// sees the version that is last in commit order. Now and then a replica takes over all that
// another one knows. So states are causally closed: whoever knows a transaction knows what it saw.
// Two replicas may learn of two commits in opposite order, which is a long fork.
//
// Under psi a transaction must have seen the newest version of what it overwrites. If it has not,
// its replica fetches the state of the replica that wrote it; if that does not change anything the
// transaction read, it goes on as if it had begun now, else it aborts. Hence every version's
// writer saw all versions before it, and a newest version that is visible makes all visible.
#include <algorithm>
#include <array>

#include "base/level_rules.h"
#include "workload/isolation.h"

namespace ouro::workload {
namespace {

using View = std::array<Position, kReplicas>;

void merge(View& view, const View& other) {
  for (std::size_t i = 0; i < kReplicas; ++i) view[i] = std::max(view[i], other[i]);
}

std::size_t replica_of(std::uint32_t session) { return session % kReplicas; }

class Replicated final : public Isolation {
 public:
  Replicated(Level level, StoreState& store)
      : Isolation(store), refuses_conflicts_(!rules(level).lost_updates) {}

  void begin(OpenTxn& txn) override {
    txn.start = store_.timeline.begin(0, store_.last_commit[txn.session]);
    txn.view = state_[replica_of(txn.session)];
  }

  std::uint32_t read(OpenTxn& txn, std::uint32_t key) override { return visible(txn.view, key); }

  bool commit(OpenTxn& txn) override {
    if (!pinned_are_newest(txn)) return false;
    if (refuses_conflicts_ && !catch_up(txn)) return false;
    install(txn, store_.timeline.commit());
    add_to_replica(txn);
    gossip();
    return true;
  }

 protected:
  void accept(const OpenTxn& txn) override { state_[replica_of(txn.session)].fill(txn.commit); }

 private:
  [[nodiscard]] std::uint32_t visible(const View& view, std::uint32_t key) const {
    const auto all = store_.versions.of(key);
    const Position newest = *std::max_element(view.begin(), view.end());
    std::uint32_t version = store_.versions.newest_at(key, newest);
    while (version > 0 && !sees(view, all[version - 1])) --version;
    return version;
  }

  static bool sees(const View& view, const Version& version) {
    return version.at <= view[replica_of(version.session)];
  }

  // Moves the view of `txn` forward until it sees the newest version of all it wrote. False: it
  // read something that changes with that.
  bool catch_up(OpenTxn& txn) const {
    View view = txn.view;
    for (const PendingWrite& write : txn.writes) {
      const auto all = store_.versions.of(write.key);
      if (!all.empty() && !sees(view, all.back())) {
        merge(view, state_[replica_of(all.back().session)]);
      }
    }
    if (view == txn.view) return true;
    for (const SeenVersion& seen : txn.seen) {
      if (visible(view, seen.key) != seen.version) return false;
    }
    txn.view = view;
    return true;
  }

  void add_to_replica(const OpenTxn& txn) {
    const std::size_t replica = replica_of(txn.session);
    merge(state_[replica], txn.view);
    state_[replica][replica] = txn.commit;
  }

  void gossip() {
    const std::uint64_t to = store_.random.below(kReplicas);
    const std::uint64_t from = store_.random.below(kReplicas);
    merge(state_[to], state_[from]);
  }

  bool refuses_conflicts_;
  std::array<View, kReplicas> state_{};
};

}  // namespace

std::unique_ptr<Isolation> make_replicated(Level level, StoreState& store) {
  return std::make_unique<Replicated>(level, store);
}

}  // namespace ouro::workload
