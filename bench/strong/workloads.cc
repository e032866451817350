#include "strong/workloads.h"

#include <utility>

namespace ouro::bench {
namespace {

constexpr Expectation kSerHolds{Level::SessionSerializable, Outcome::Holds};
constexpr Expectation kSiHolds{Level::SessionSi, Outcome::Holds};
constexpr Expectation kSerViolated{Level::SessionSerializable, Outcome::Violated};
constexpr Expectation kSiViolated{Level::SessionSi, Outcome::Violated};

// 25 sessions, 8 operations, half of them reads.
Workload general(std::string id, std::string title, std::uint64_t txns, std::uint64_t keys) {
  Workload workload{.id = std::move(id), .title = std::move(title)};
  workload.options.txns = txns;
  workload.options.keys = keys;
  workload.options.sessions = 25;
  workload.expected = {kSerHolds, kSiHolds};
  return workload;
}

Workload blind(std::string id, std::string title, std::uint64_t txns, std::uint64_t keys) {
  Workload workload = general(std::move(id), std::move(title), txns, keys);
  workload.options.workload = WorkloadKind::BlindWRw;
  workload.options.sessions = 24;
  return workload;
}

// Every client writes to the same 100 keys.
Workload contention(std::string id, std::string title, std::uint64_t txns) {
  Workload workload = general(std::move(id), std::move(title), txns, 100);
  workload.options.read_share = 0.2;
  return workload;
}

Workload planted(Workload workload, Fault fault, std::vector<Expectation> expected) {
  const double rate = 1 / static_cast<double>(workload.options.txns);
  workload.options.faults = {{.fault = fault, .rate = rate}};
  workload.expected = std::move(expected);
  return workload;
}

Workload viper(std::string id, std::string title, std::uint64_t txns) {
  Workload workload = blind(std::move(id), std::move(title), txns, 2000);
  // strong-si looks at clocks.
  workload.options.clocks = true;
  workload.expected = {{Level::Si, Outcome::Holds},
                       {Level::Gsi, Outcome::Holds},
                       {Level::SessionSi, Outcome::Holds},
                       {Level::StrongSi, Outcome::Holds}};
  return workload;
}

Workload si_generated() {
  Workload workload = general("si-5k", "SI-generated 5k txns, 2k keys", 5'000, 2'000);
  workload.options.store = Level::SessionSi;
  workload.expected = {kSerViolated, kSiHolds};
  return workload;
}

// Viper's synthetic anomalies, one in each history.
Workload anomaly(std::string id, std::string title, Fault fault, std::uint64_t txns) {
  Workload workload =
      planted(blind(std::move(id), std::move(title), txns, 2'000), fault, {kSiViolated});
  workload.seeds = 20;
  return workload;
}

Workload ranges(std::string id, std::string title, WorkloadKind kind, std::uint64_t txns) {
  Workload workload = general(std::move(id), std::move(title), txns, 100);
  workload.options.workload = kind;
  workload.options.sessions = 24;
  return workload;
}

Workload lists(std::string id, std::string title, std::uint64_t txns) {
  Workload workload = general(std::move(id), std::move(title), txns, txns / 10);
  workload.options.workload = WorkloadKind::ListAppend;
  return workload;
}

Workload rmw() {
  Workload workload = general("rmw-27k", "27k txns on 85 keys, all writes RMW", 27'000, 85);
  workload.options.rmw_share = 1;
  workload.expected = {kSerHolds};
  return workload;
}

// Applications as key-value stores, with the papers' sizes and 24 clients.
Workload application(std::string id, std::string title, WorkloadKind kind) {
  Workload workload = general(std::move(id), std::move(title), 100'000, 100);
  workload.options.workload = kind;
  workload.options.sessions = 24;
  return workload;
}

Workload many_sessions() {
  Workload workload = general("sessions-2000", "2,000 sessions, 100k txns", 100'000, 50'000);
  workload.options.sessions = 2000;
  return workload;
}

// Keys get seven different values, again and again.
Workload repeated(Workload workload) {
  workload.id = "repeated-" + workload.id;
  workload.title = "values that repeat, " + workload.title;
  workload.options.duplicates = true;
  return workload;
}

// For the memory that the weak levels take; bench/weak has their times.
Workload weak() {
  Workload workload = general("weak-1m", "1M txns, 50 sessions, 100k keys", 1'000'000, 100'000);
  workload.options.sessions = 50;
  workload.expected = {{Level::ReadCommitted, Outcome::Holds},
                       {Level::ReadAtomic, Outcome::Holds},
                       {Level::Causal, Outcome::Holds}};
  return workload;
}

// What King Cobra calls heavy writes: most operations write, without a read.
Workload heavy_writes() {
  Workload workload = general("heavy-10k", "heavy writes, 10k txns, 20 sessions, 1k keys", 10'000,
                              1'000);
  workload.options.workload = WorkloadKind::HeavyWrite;
  workload.options.sessions = 20;
  workload.expected = {kSerHolds};
  return workload;
}

// By snapshots, on which levels without sessions were once lost.
Workload blind_snapshots() {
  Workload workload = blind("blindw-8k-si", "BlindW-RW 8k txns, 48 sessions, 2k keys, by snapshots",
                            8'000, 2'000);
  workload.options.sessions = 48;
  workload.options.store = Level::SessionSi;
  workload.options.seed = 1;
  workload.expected = {kSiHolds};
  return workload;
}

std::vector<Workload> all() {
  return {
      general("10k", "10k txns, 25 sessions, 8 ops, 5k keys", 10'000, 5'000),
      general("50k", "50k txns, 25k keys", 50'000, 25'000),
      general("100k", "100k txns, 50k keys", 100'000, 50'000),
      general("1m", "1M txns, 500k keys", 1'000'000, 500'000),
      blind("blindw-10k", "BlindW-RW 10k txns, 10k keys", 10'000, 10'000),
      blind("blindw-16k", "BlindW-RW 16k txns, 10k keys", 16'000, 10'000),
      blind("blindw-100k", "BlindW-RW 100k txns, 10k keys", 100'000, 10'000),
      contention("contention-500", "contention, 500 txns, 100 keys, 20 % reads", 500),
      contention("contention-1k", "contention, 1k txns", 1'000),
      contention("contention-2k", "contention, 2k txns", 2'000),
      contention("contention-100k", "contention, 100k txns", 100'000),
      si_generated(),
      planted(general("stale-10k", "one stale read in 10k txns", 10'000, 5'000), Fault::StaleRead,
              {kSerViolated, kSiViolated}),
      planted(general("stale-1m", "one stale read in 1M txns", 1'000'000, 500'000),
              Fault::StaleRead, {kSerViolated, kSiViolated}),
      anomaly("gsib-2k", "G-SIb planted in BlindW-RW 2k", Fault::GSib, 2'000),
      anomaly("gsib-5k", "G-SIb planted in BlindW-RW 5k", Fault::GSib, 5'000),
      anomaly("g1c-2k", "G1c planted in BlindW-RW 2k", Fault::CircularFlow, 2'000),
      anomaly("g1c-5k", "G1c planted in BlindW-RW 5k", Fault::CircularFlow, 5'000),
      anomaly("fork-2k", "long fork planted in BlindW-RW 2k", Fault::LongFork, 2'000),
      anomaly("fork-5k", "long fork planted in BlindW-RW 5k", Fault::LongFork, 5'000),
      rmw(),
      heavy_writes(),
      blind_snapshots(),
      viper("viper-400", "Viper's BlindW-RW 400 txns, 2k keys", 400),
      viper("viper-2k", "Viper's BlindW-RW 2k txns", 2'000),
      viper("viper-10k", "Viper's BlindW-RW 10k txns", 10'000),
      application("tpcc-100k", "TPC-C 100k txns", WorkloadKind::TpcC),
      application("rubis-100k", "RUBiS 100k txns", WorkloadKind::Rubis),
      application("twitter-100k", "Twitter 100k txns", WorkloadKind::Twitter),
      many_sessions(),
      general("3m", "3M txns, 1.5M keys", 3'000'000, 1'500'000),
      ranges("range-b-5k", "V-Range balanced, 5k txns", WorkloadKind::RangeBalanced, 5'000),
      ranges("range-rqh-5k", "V-Range query heavy, 5k txns", WorkloadKind::RangeQueryHeavy, 5'000),
      ranges("range-idh-5k", "V-Range insert and delete heavy, 5k txns",
             WorkloadKind::RangeInsertDeleteHeavy, 5'000),
      lists("lists-10k", "list-append, 10k txns", 10'000),
      lists("lists-100k", "list-append, 100k txns", 100'000),
      lists("lists-1m", "list-append, 1M txns", 1'000'000),
      repeated(general("10k", "10k txns, 5k keys", 10'000, 5'000)),
      repeated(general("100k", "100k txns, 50k keys", 100'000, 50'000)),
      repeated(general("1m", "1M txns, 500k keys", 1'000'000, 500'000)),
      weak(),
  };
}

// Planted transactions are the only ones with fewer operations.
bool has_planted(const History& history, const GenerateOptions& options) {
  return history.op_count() < options.txns * options.ops_per_txn;
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all_workloads = all();
  return all_workloads;
}

History make(const Workload& workload, std::uint64_t seed) {
  GenerateOptions options = workload.options;
  options.seed = seed * 1000;
  for (;; ++options.seed) {
    History history = *generate(options);
    if (options.faults.empty() || has_planted(history, options)) return history;
  }
}

}  // namespace ouro::bench
