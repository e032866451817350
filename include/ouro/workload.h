// What clients do to a database: named workloads and their options.
//
// The same workloads drive the simulated store (ouro/generate.h) and real databases (ouro/run.h).
// Each is a sequence of transactions that follows from the options and the seed alone.
//
// Example: tests/example_generate.cc, which ouro/generate.h shows, and tests/example_run.cc, which
// ouro/run.h shows. Cost: all functions here are look-ups in a table.
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ouro {

// How operations spread over keys: evenly; by Zipf's law, with key 0 the most popular; or most of
// them on a few hot keys.
enum class KeyChoice : std::uint8_t { Uniform, Zipf, Hotspot };

// What transactions do; docs/run.md describes each.
enum class WorkloadKind : std::uint8_t {
  General,     // Reads and writes in any mixture.
  BlindWRm,    // BlindW-RM of Cobra: 90 % transactions of 8 reads, 10 % of 8 blind writes.
  BlindWRw,    // BlindW-RW: half and half.
  ListAppend,  // Elle's: appends and reads of whole lists.
  // King Cobra's: General with fixed shares of reads and writes.
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
  FreshSkew,
};

struct WorkloadInfo {
  WorkloadKind kind = WorkloadKind::General;
  std::string_view name;          // For --workload: "blindw-rw".
  std::string_view description;   // One line.
  std::uint64_t keys = 100;       // A good number of keys. Zero: the number is fixed.
  std::uint32_t ops_per_txn = 8;  // A good number of operations per transaction.
  bool simulated = true;          // Whether generate() can run it.
  bool lists = false;             // Whether keys hold lists.
  bool rows = false;              // Whether keys hold rows. If neither, they hold numbers.
  bool scans = false;             // Whether it reads ranges of keys.
  bool preloads = false;          // Whether run() writes all keys before the clients start.
};

// Every workload, in the order of the enumeration.
[[nodiscard]] std::span<const WorkloadInfo> workloads();
// The workload of that name, or null.
[[nodiscard]] const WorkloadInfo* find_workload(std::string_view name);
[[nodiscard]] const WorkloadInfo& info(WorkloadKind kind);

// What clients do. Shares are in [0, 1]. All workloads use `seed`, `sessions`, `txns` and
// `abort_share`; and `keys`, unless WorkloadInfo::keys is zero. The other options are for the
// mixtures (General to HeavyWrite), but King Cobra's have shares of their own, and BlindW has both.
struct WorkloadOptions {
  WorkloadKind workload = WorkloadKind::General;
  std::uint64_t seed = 1;
  std::uint32_t sessions = 10;  // Concurrent clients.
  std::uint64_t txns = 1000;    // Transactions that clients begin, of every status.
  // Operations of a transaction: from `ops_at_least` to `ops_per_txn`, drawn evenly. Zero as the
  // former: always `ops_per_txn`. V-Range and Predicates take `ops_per_txn` only.
  std::uint32_t ops_per_txn = 8;
  std::uint32_t ops_at_least = 0;
  std::uint64_t keys = 100;
  double read_share = 0.5;  // Share of operations that read.
  double rmw_share = 0;     // Share of writes that follow a read of the same key.
  KeyChoice key_choice = KeyChoice::Uniform;
  double zipf_theta = 0.99;   // The exponent of Zipf's law, in [0, 10].
  double hotspot_keys = 0.2;  // Share of keys that are hot,
  double hotspot_ops = 0.8;   // and share of operations that go to hot keys.
  double abort_share = 0;     // Share of transactions that the client aborts for no reason.
};

}  // namespace ouro
