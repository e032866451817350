// Plays the scripts of planted faults, wherever there is a store and somebody to act.
#pragma once

#include <cstdint>

#include "workload/client.h"
#include "workload/fault_script.h"
#include "workload/isolation.h"

namespace ouro::workload {

// What a play needs from its surroundings.
class Stage {
 public:
  Stage() = default;
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  virtual Client::KeyPair pick_keys() = 0;
  // The transaction of an idle session: the same one for the same number during a play.
  virtual OpenTxn& actor(std::size_t number) = 0;
  // A value that nobody used for `key`, and the one that fresh_value() returns next.
  virtual std::uint32_t fresh_value(std::uint32_t key) = 0;
  virtual std::uint32_t peek_value(std::uint32_t key) = 0;

  // An actor begins: empty `txn`. Then, before each further step, time passes.
  virtual void begun(OpenTxn& txn) = 0;
  virtual void time_passes() {}
  // It ended; write it down.
  virtual void ended(OpenTxn& txn, bool committed) = 0;
};

// REQUIRES: as many actors as needs_of(script) says.
void play(const FaultScript& script, StoreState& store, Isolation& isolation, Stage& stage);

// What a read of `key` returns to `txn`; notes what it saw.
[[nodiscard]] DoneOp read_key(StoreState& store, Isolation& isolation, OpenTxn& txn,
                              std::uint32_t key);

}  // namespace ouro::workload
