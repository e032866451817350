// What clients do to a database: named workloads and their options.
//
// The same workloads drive the simulated store (ouro/generate.h) and real databases (ouro/run.h).
// Each is a sequence of transactions that follows from the options and the seed alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

enum class KeyChoice : std::uint8_t { Uniform, Zipf, Hotspot };

// docs/run.md tells what each does.
enum class WorkloadKind : std::uint8_t {
  General,     // Reads and writes in any mixture.
  BlindWRm,    // BlindW-RM of Cobra: 90 % transactions of 8 reads, 10 % of 8 blind writes.
  BlindWRw,    // BlindW-RW: half and half.
  ListAppend,  // Elle's: appends and reads of whole lists.
  // King Cobra's: general with fixed shares.
  ReadModifyWrite,
  ReadWrite,
  HeavyWrite,
  // Viper's V-Range: inserts, deletes that leave tombstones, range queries.
  RangeBalanced,
  RangeQueryHeavy,
  RangeInsertDeleteHeavy,
  // Applications as key-value stores.
  TpcC,
  Rubis,
  Twitter,
  Bank,
  // Emme's, with rows and predicates; only on databases that have them.
  Predicates,
  // Hunts: transactions in the shape of one anomaly.
  LostUpdate,
  WriteSkew,
  LongFork,
  ReadSkew,
  Phantom,
};

struct WorkloadInfo {
  WorkloadKind kind = WorkloadKind::General;
  std::string_view name;  // For --workload: "blindw-rw".
  std::string_view description;
  std::uint64_t keys = 100;       // A good number of keys; zero: the workload has its own.
  std::uint32_t ops_per_txn = 8;  // The same for operations.
  bool simulated = true;          // Whether generate() can run it.
  bool lists = false;             // Whether keys hold lists, …
  bool rows = false;              // … rows, or else numbers.
  bool scans = false;             // Whether it reads ranges of keys.
  bool preloads = false;          // Whether keys are there from the start.
};

// Every workload, in the order of the enumeration.
[[nodiscard]] std::span<const WorkloadInfo> workloads();
// By name; nothing if there is none.
[[nodiscard]] const WorkloadInfo* find_workload(std::string_view name);
[[nodiscard]] const WorkloadInfo& info(WorkloadKind kind);

struct WorkloadOptions {
  WorkloadKind workload = WorkloadKind::General;
  std::uint64_t seed = 1;
  std::uint32_t sessions = 10;     // Concurrent clients.
  std::uint64_t txns = 1000;       // Begun by clients, of every status.
  std::uint32_t ops_per_txn = 8;   // Of the mixtures: the most operations of a transaction, …
  std::uint32_t ops_at_least = 0;  // … and the fewest; zero: all have ops_per_txn.
  std::uint64_t keys = 100;
  double read_share = 0.5;  // Of operations.
  double rmw_share = 0;     // Of writes: those preceded by a read of the same key.
  KeyChoice key_choice = KeyChoice::Uniform;
  double zipf_theta = 0.99;
  double hotspot_keys = 0.2;  // Share of keys that is hot …
  double hotspot_ops = 0.8;   // … and of operations that go there.
  double abort_share = 0;     // Transactions that abort for no reason.
};

}  // namespace ouro
