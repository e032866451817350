// Causal consistency and parallel snapshot isolation, by replicas that tell each other what they
// know.
//
// A session stays with one replica. The state of a replica says, for each replica, up to which of
// its commits it knows them. A transaction reads from the state that its replica had at the begin;
// of each key it sees the known version that is last in commit order. Now and then a replica takes
// over all that another one knows. So states are causally closed: a replica that knows a
// transaction knows all that the transaction saw. Two replicas may learn of two commits in opposite
// order, which is a long fork.
//
// At psi a transaction must have seen the newest version of each key that it overwrites. If it has
// not, it takes over the state of the replica that wrote that version. If this changes nothing that
// the transaction read, it goes on as if it had begun now, else it aborts. Hence the writer of each
// version saw all versions before it, and who sees the newest version of a key sees all.
#include <algorithm>
#include <array>

#include "base/level_rules.h"
#include "workload/isolation.h"

namespace ouro::workload {
namespace {

// By replica: the commits of its sessions up to this position are known.
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

  // Moves the view of `txn` forward until it sees the newest version of each key that it wrote.
  // Returns false, and changes nothing, if something that it read would change.
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
