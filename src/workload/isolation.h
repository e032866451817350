// What a transaction sees and whether it may commit: one subclass per family of levels.
//
//   ReadRules   rc, ra          any recent version, as long as the level's axiom allows it
//   Replicated  cc, psi         a causally closed set of transactions; psi also refuses conflicts
//   Snapshots   pc, si family   a prefix of the commit order; all but pc also refuse conflicts
//   Serial      ser family      optimistic, with commits in the past where nobody can tell
//
// In all of them the order of `OpenTxn::commit` is a commit order that proves the level, and its
// restriction to a key is the version order.
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

// What the store consists of, whatever its level.
struct StoreState {
  StoreState(std::uint64_t seed, std::size_t keys, std::size_t sessions, bool holds_lists)
      : versions(keys), random(seed, 2), last_commit(sessions, 0), lists(holds_lists) {}

  Versions versions;
  Timeline timeline;
  Random random;
  std::vector<Position> last_commit;  // Of each session; 0: none yet.
  bool lists;
};

class Isolation {
 public:
  explicit Isolation(StoreState& store) : store_(store) {}
  virtual ~Isolation() = default;
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  // Sets the snapshot.
  virtual void begin(OpenTxn& txn) = 0;
  // The version of `key` to show. The caller adds it to `txn.seen`.
  // REQUIRES: the transaction has not written `key`, or it is a list it has not seen.
  virtual std::uint32_t read(OpenTxn& txn, std::uint32_t key) = 0;
  // Commits, or returns false and changes nothing: a conflict, the transaction must abort.
  virtual bool commit(OpenTxn& txn) = 0;

  // For planted faults: a begin with a fresh snapshot, and a commit without any check.
  void begin_unchecked(OpenTxn& txn);
  void commit_unchecked(OpenTxn& txn);

 protected:
  // Called by commit_unchecked() before it installs; `txn.commit` is set. The transaction may have
  // seen everything committed so far.
  virtual void accept(const OpenTxn&) {}

  // Installs the writes at `position`.
  void install(OpenTxn& txn, Position position);
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
