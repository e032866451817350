// Plays the scripts of planted faults (fault_script.h) on a store: in the simulation, and in the
// simulated database of src/run.
#pragma once

#include <cstdint>

#include "workload/client.h"
#include "workload/fault_script.h"
#include "workload/isolation.h"

namespace ouro::workload {

// What a play needs from whoever runs it.
class PlayStage {
 public:
  PlayStage() = default;
  virtual ~PlayStage() = default;
  PlayStage(const PlayStage&) = delete;
  PlayStage& operator=(const PlayStage&) = delete;

  // The keys x and y of the play.
  virtual Client::KeyPair pick_keys() = 0;
  // Two keys that were never written.
  virtual Client::KeyPair new_keys() = 0;
  // The transaction of session `number` of the script: of a session that is idle, and the same one
  // for the same number during a play.
  virtual OpenTxn& actor(std::size_t number) = 0;
  // fresh_value() returns a value that was never used for `key`; peek_value() returns what
  // fresh_value() will return next.
  virtual std::uint32_t fresh_value(std::uint32_t key) = 0;
  virtual std::uint32_t peek_value(std::uint32_t key) = 0;

  // Called when a transaction of the play begins; must empty `txn`.
  virtual void begun(OpenTxn& txn) = 0;
  // Called before each other step.
  virtual void time_passes() {}
  // Called when a transaction of the play has ended; must record it.
  virtual void ended(OpenTxn& txn, bool committed) = 0;
};

// Plays `script` at once. REQUIRES: `stage` has as many actors as needs_of(script) says.
void play(const FaultScript& script, StoreState& store, Isolation& isolation, PlayStage& stage);

// What an ordinary read of `key` returns to `txn` at the level of `isolation`. Adds the version
// that the store showed to txn.seen.
[[nodiscard]] DoneOp read_key(StoreState& store, Isolation& isolation, OpenTxn& txn,
                              std::uint32_t key);

}  // namespace ouro::workload
