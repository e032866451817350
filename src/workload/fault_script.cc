#include "workload/fault_script.h"

#include <algorithm>
#include <array>

namespace ouro::workload {
namespace {

// Where the anomaly depends on the order of two versions, the later writer reads the earlier
// version; otherwise nobody would have observed that order.
constexpr std::array kScripts{
    // Session 1 reads what session 0 writes and then aborts.
    FaultScript{Fault::AbortedRead, "aborted-read", "b0 b1 w0x r1x~ a0 c1"},
    // Session 1 reads what session 0 is about to overwrite itself.
    FaultScript{Fault::IntermediateRead, "intermediate-read", "b0 b1 w0x r1x~ w0x c0 c1"},
    FaultScript{Fault::ThinAirRead, "thin-air-read", "b0 r0x? c0"},
    FaultScript{Fault::FutureRead, "future-read", "b0 r0x! w0x c0"},
    // The transaction does not read its own write.
    FaultScript{Fault::Internal, "internal", "b0 w0x r0x- c0"},
    FaultScript{Fault::NonRepeatableRead, "non-repeatable-read", "b0 b1 r0x- w1x c1 r0x+ c0"},
    // Session 1 reads y from session 0's transaction, then x from before it.
    FaultScript{Fault::NonMonotonicRead, "non-monotonic-read",
                "b0 b1 r0x- w0x w0y c0 r1y+ r1x- c1"},
    // The same with the two reads in the order that read-committed allows.
    FaultScript{Fault::FracturedRead, "fractured-read", "b0 b1 r0x- w0x w0y c0 r1x- r1y+ c1"},
    // Session 2 sees the effect y without its cause x.
    FaultScript{Fault::CausalityViolation, "causality-violation",
                "b2 b0 r0x- w0x c0 b1 r1x+ w1y c1 r2y+ r2x- c2"},
    // Sessions 2 and 3 see independent writes in opposite order.
    FaultScript{Fault::LongFork, "long-fork",
                "b0 b1 b2 b3 r0x- w0x r1y- w1y c0 c1 r2x+ r2y- r3x- r3y+ c2 c3"},
    FaultScript{Fault::LostUpdate, "lost-update", "b0 b1 r0x- r1x- w0x w1x c0 c1"},
    // A transfer between x and y, and an audit that sees half of it.
    FaultScript{Fault::ReadSkew, "read-skew", "b0 b1 r1x- r0x- r0y- w0x w0y c0 r1y+ c1"},
    FaultScript{Fault::WriteSkew, "write-skew", "b0 b1 r0x- r0y- r1x- r1y- w0x w1y c0 c1"},
    FaultScript{Fault::StaleRead, "stale-read", "b0 r0x- w0x c0 b0 r0x- c0"},
    FaultScript{Fault::RealTimeViolation, "real-time-violation", "b0 r0x- w0x c0 b1 r1x- c1", false,
                true},
    FaultScript{Fault::DuplicateElements, "duplicate-elements", "b0 w0x c0 b1 r1x= c1", true},
    FaultScript{Fault::IncompatibleOrder, "incompatible-order",
                "b0 w0x c0 b1 w1x c1 b0 r0x+ c0 b1 r1x% c1", true},
    // If session 0 wrote y first, then session 1 saw x from before session 0, whose y it overwrote.
    // If session 1 did, then session 2 missed the y of session 0, whose x it saw.
    FaultScript{Fault::GSib, "g-sib", "b0 b1 r1x- w0x w0y c0 w1y c1 b2 r2x+ r2y+ c2"},
    FaultScript{Fault::CircularFlow, "circular-information-flow", "b0 b1 w0x w1y r0y~ r1x~ c0 c1"},
    FaultScript{Fault::Phantom, "phantom", "b0 b1 s0y s1x w0x w1y c0 c1", false, false, true},
};

constexpr bool in_order_of_enum() {
  for (std::size_t i = 0; i < kScripts.size(); ++i) {
    if (static_cast<std::size_t>(kScripts[i].fault) != i) return false;
  }
  return true;
}
static_assert(in_order_of_enum());

}  // namespace

std::span<const FaultScript> fault_scripts() { return kScripts; }

const FaultScript& script_of(Fault fault) { return kScripts[static_cast<std::size_t>(fault)]; }

FaultNeeds needs_of(const FaultScript& script) {
  FaultNeeds needs{.sessions = 0, .txns = 0, .keys = 1};
  const std::string_view steps = script.steps;
  for (std::size_t i = 0; i < steps.size();
       i = std::min(steps.find(' ', i), steps.size() - 1) + 1) {
    if (steps[i] == 'b') ++needs.txns;
    needs.sessions = std::max(needs.sessions, static_cast<std::size_t>(steps[i + 1] - '0') + 1);
    if (steps[i + 2 < steps.size() ? i + 2 : i] == 'y') needs.keys = 2;
  }
  return needs;
}

}  // namespace ouro::workload
