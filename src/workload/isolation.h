// How the simulated store keeps a level: what a transaction sees, and whether it may commit. There
// is one subclass per family of levels (StoreKind in base/level_rules.h):
//
//   ReadRules   rc, ra          a read sees any recent version that the rule of the level allows
//   Replicated  cc, psi         a transaction sees a causally closed set of transactions
//   Snapshots   pc, si family   a transaction sees a prefix of the commit order
//   Serial      ser family      optimistic, with commits in the past where nobody can tell
//
// psi and the si family also refuse to commit a transaction that would lose an update.
//
// In all of them the order of `OpenTxn::commit` is a commit order that proves the level, and the
// order of the versions of each key is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ouro/level.h"
#include "workload/open_txn.h"
#include "workload/random.h"
#include "workload/timeline.h"
#include "workload/versions.h"

namespace ouro::workload {

// The data of the store, whatever its level.
struct StoreState {
  StoreState(std::uint64_t seed, std::size_t keys, std::size_t sessions, bool holds_lists)
      : versions(keys), random(seed, 2), last_commit(sessions, 0), lists(holds_lists) {}

  Versions versions;
  Timeline timeline;
  Random random;
  std::vector<Position> last_commit;  // By session; 0: it committed nothing yet.
  bool lists;                         // Whether keys hold lists; else they are registers.
  // Whether clients record when begins were answered. Then, at levels with real time, no
  // transaction may begin later than that.
  bool keeps_begins = false;
};

class Isolation {
 public:
  explicit Isolation(StoreState& store) : store_(store) {}
  virtual ~Isolation() = default;
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  // Begins `txn`: chooses what it is going to see.
  virtual void begin(OpenTxn& txn) = 0;
  // The version of `key` that `txn` reads. The caller adds it to `txn.seen`.
  // REQUIRES: `txn` has not written `key`; or `key` is a list, and not in `txn.seen`.
  virtual std::uint32_t read(OpenTxn& txn, std::uint32_t key) = 0;
  // Commits and installs the writes. Returns false and changes nothing if the level does not allow
  // it; then the transaction must abort.
  virtual bool commit(OpenTxn& txn) = 0;

  // The same for planted faults: a begin that sees all that is committed, a commit without checks.
  void begin_unchecked(OpenTxn& txn);
  void commit_unchecked(OpenTxn& txn);

 protected:
  // Called by commit_unchecked() before it installs the writes, so that the subclass can note what
  // the transaction read: anything that was committed so far. `txn.commit` is set.
  virtual void accept(const OpenTxn&) {}

  // Installs the writes of `txn` at `position`, which becomes txn.commit.
  void install(OpenTxn& txn, Position position);
  // Whether all versions that `txn` saw are still the newest; and whether those are that must be
  // (SeenVersion::pinned).
  [[nodiscard]] bool all_seen_are_newest(const OpenTxn& txn) const;
  [[nodiscard]] bool pinned_are_newest(const OpenTxn& txn) const;

  StoreState& store_;
};

// Null if there is no store for `level`.
[[nodiscard]] std::unique_ptr<Isolation> make_isolation(Level level, StoreState& store);

[[nodiscard]] std::unique_ptr<Isolation> make_read_rules(Level level, StoreState& store);
[[nodiscard]] std::unique_ptr<Isolation> make_replicated(Level level, StoreState& store);
[[nodiscard]] std::unique_ptr<Isolation> make_snapshots(Level level, StoreState& store);
[[nodiscard]] std::unique_ptr<Isolation> make_serial(Level level, StoreState& store);

}  // namespace ouro::workload
