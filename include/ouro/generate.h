// Makes histories: a simulated multi-version store, a workload, and faults to plant.
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
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"
#include "ouro/result.h"
#include "ouro/workload.h"

namespace ouro {

// Faults; each plants the anomaly it is named after.
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
  RealTimeViolation,  // A transaction misses one that completed before it began.
  DuplicateElements,  // Lists only.
  IncompatibleOrder,  // Lists only.
};
[[nodiscard]] std::string_view name(Fault fault);
[[nodiscard]] const std::vector<Fault>& faults();

struct PlantedFault {
  Fault fault = Fault::LostUpdate;
  double rate = 0;  // Share of transactions where it is tried, in [0, 1].
};

struct GenerateOptions : WorkloadOptions {
  Level store = Level::StrictSerializable;  // What the store guarantees without faults.
  double unknown_share = 0;                 // Commits (or aborts) whose answer is lost.
  bool clocks = false;                      // Record client clocks,
  bool timestamps = false;                  // start and commit timestamps,
  bool version_orders = false;              // and the version order of every key.
  std::vector<PlantedFault> faults;
};

// The history, or what is wrong with the options.
[[nodiscard]] Result<History> generate(const GenerateOptions& options);

}  // namespace ouro
