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

namespace ouro {

enum class KeyChoice : std::uint8_t { Uniform, Zipf, Hotspot };

enum class WorkloadKind : std::uint8_t {
  General,     // Reads and writes in any mixture.
  BlindWRm,    // BlindW-RM of Cobra: 90 % transactions of 8 reads, 10 % of 8 blind writes.
  BlindWRw,    // BlindW-RW: half and half.
  ListAppend,  // Elle's: appends and reads of whole lists.
};

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

struct GenerateOptions {
  WorkloadKind workload = WorkloadKind::General;
  Level store = Level::StrictSerializable;  // What the store guarantees without faults.
  std::uint64_t seed = 1;
  std::uint32_t sessions = 10;
  std::uint64_t txns = 1000;  // Begun by clients, of every status.
  std::uint32_t ops_per_txn = 8;
  std::uint64_t keys = 100;
  double read_share = 0.5;  // Of operations.
  double rmw_share = 0;     // Of writes: those preceded by a read of the same key.
  KeyChoice key_choice = KeyChoice::Uniform;
  double zipf_theta = 0.99;
  double hotspot_keys = 0.2;    // Share of keys that is hot …
  double hotspot_ops = 0.8;     // … and of operations that go there.
  double abort_share = 0;       // Transactions that abort for no reason.
  double unknown_share = 0;     // Commits (or aborts) whose answer is lost.
  bool clocks = false;          // Record client clocks,
  bool timestamps = false;      // start and commit timestamps,
  bool version_orders = false;  // and the version order of every key.
  std::vector<PlantedFault> faults;
};

// The history, or what is wrong with the options.
[[nodiscard]] Result<History> generate(const GenerateOptions& options);

}  // namespace ouro
