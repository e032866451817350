// Planted faults: each is a short script of what a few sessions do.
//
// A script runs at once, with nothing else between its steps, in sessions that are idle and on two
// keys of the workload, x and y. Its transactions do only what the anomaly needs. So the anomaly is
// there for certain, whatever order of versions a checker supposes, and no worse one is: a long
// fork, say, leaves the history parallel-si. Transactions overlap wherever the anomaly is not about
// real time.
//
// A step is an action, a session and, for operations, a key and what a read returns:
//
//   b0  session 0 begins      w0x  writes or appends      r0x-  reads what x held before the script
//   c0  commits               a0   aborts                 r0x+  reads the newest committed version
//   r0x~  reads the first value written in the script, even if it never committed
//   r0x?  reads a value nobody writes     r0x!  reads what the session writes next
//   r0x=  lists: the last element twice   r0x%  lists: the last two elements swapped
//   s0x   scans a range with no other key than x, which was never written, and finds nothing
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ouro/generate.h"

namespace ouro::workload {

struct FaultScript {
  Fault fault = Fault::AbortedRead;
  std::string_view name;
  std::string_view steps;     // Separated by single blanks.
  bool lists_only = false;    // It is about lists, so needs the list-append workload.
  bool needs_clocks = false;  // It shows only in a history with client clocks.
  bool scans_only = false;    // It scans, so needs a workload that does, and keys that are new.
};

// How many sessions, transactions and keys a script uses.
struct FaultNeeds {
  std::size_t sessions = 0;
  std::size_t txns = 0;
  std::size_t keys = 0;
};

// All scripts, in the order of Fault. script_of() is a look-up, needs_of() reads the script.
[[nodiscard]] std::span<const FaultScript> fault_scripts();
[[nodiscard]] const FaultScript& script_of(Fault fault);
[[nodiscard]] FaultNeeds needs_of(const FaultScript& script);

}  // namespace ouro::workload
