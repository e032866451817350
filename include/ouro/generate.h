// Makes histories: the clients of a workload run on a simulated multi-version store that keeps a
// level, and faults can be planted in it.
//
// Deterministic: the same options give the same history, on every machine.
//
// Example (built and run as tests/example_generate.cc):
//
//   ouro::GenerateOptions options;
//   options.store = ouro::Level::Si;
//   options.txns = 1000;
//   const ouro::History history = *ouro::generate(options);
//   assert(history.txn_count() == 1000);
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"
#include "ouro/workload.h"

namespace ouro {

// Faults of the store. Each plants the anomaly it is named after (docs/anomalies.md), and none that
// is worse.
enum class Fault : std::uint8_t {
  AbortedRead,
  IntermediateRead,
  ThinAirRead,
  FutureRead,
  Internal,
  NonRepeatableRead,
  NonMonotonicRead,
  FracturedRead,
  CausalityViolation,
  LongFork,
  LostUpdate,
  ReadSkew,
  WriteSkew,
  StaleRead,          // A session does not see its own earlier write.
  RealTimeViolation,  // A transaction misses one that completed before it began. Needs `clocks`.
  DuplicateElements,  // Lists only.
  IncompatibleOrder,  // Lists only.
  // One anti-dependency between transactions that write without reading: whoever wrote first, a
  // cycle has a single rw edge (Adya's G-SIb). No weaker level than parallel-si and si sees it.
  GSib,
  CircularFlow,  // Each of two transactions reads what the other wrote.
  Phantom,       // Two scans that each miss the other's insert. Workloads with scans only.
};
[[nodiscard]] std::string_view name(Fault fault);  // "aborted-read" …
// All faults, in the order of the enumeration.
[[nodiscard]] const std::vector<Fault>& faults();

struct PlantedFault {
  Fault fault = Fault::LostUpdate;
  double rate = 0;  // The chance that the fault happens when a transaction is to begin, in [0, 1].
};

struct GenerateOptions : WorkloadOptions {
  Level store = Level::StrictSerializable;  // The level that the store keeps without faults.
  double unknown_share = 0;                 // Share of transactions whose outcome nobody hears.
  bool clocks = false;                      // Whether to record the clients' clocks,
  bool timestamps = false;                  // the start and commit timestamps of the store,
  bool version_orders = false;              // and the version order of every key.
  // Each time so many transactions were begun, clients wait until none is under way, and then a
  // while. Zero: they do not.
  std::uint64_t quiet_every = 0;
  bool duplicates = false;                  // Whether only few different values are written.
  std::vector<PlantedFault> faults;
};

// Generates a history of options.txns transactions. The error says what is wrong with the options,
// and what to do: a number out of range, a workload that needs a real database, a level without a
// store (repeatable-read), a fault that needs more sessions or keys than there are.
// Cost: about linear in the operations.
[[nodiscard]] Result<History> generate(const GenerateOptions& options);

}  // namespace ouro
