// Planted faults as little plays.
//
// A fault is a script for a few sessions that are idle. It runs at once, with nothing else between
// its steps, on keys x and y of the workload; the transactions in it do only what the anomaly
// needs. So the anomaly is there for certain, whatever the version order is thought to be, and no
// worse one is: a long fork, say, leaves the history parallel-si. Transactions overlap wherever
// the anomaly is not about real time.
//
// A step is an action, a session and, for operations, a key and what the read returns:
//
//   b0  session 0 begins      w0x  writes or appends      r0x-  reads what was there at first
//   c0  commits               a0   aborts                 r0x+  reads the newest committed version
//   r0x~  reads the first value written in the script, even if it never committed
//   r0x?  reads a value nobody writes     r0x!  reads what the session writes next
//   r0x=  lists: the last element twice   r0x%  lists: the last two elements swapped
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ouro/generate.h"

namespace ouro::workload {

struct FaultScript {
  Fault fault = Fault::AbortedRead;
  std::string_view name;
  std::string_view steps;
  bool lists_only = false;
  bool needs_clocks = false;
};

struct FaultNeeds {
  std::size_t sessions = 0;
  std::size_t txns = 0;
  std::size_t keys = 0;
};

// All scripts, in the order of the enum.
[[nodiscard]] std::span<const FaultScript> fault_scripts();
[[nodiscard]] const FaultScript& script_of(Fault fault);
[[nodiscard]] FaultNeeds needs_of(const FaultScript& script);

}  // namespace ouro::workload
