// Clients: what transactions ask for, step by step, as data.
//
// A client plans; whoever runs the plan (the simulation, or src/run on a real database) chooses
// the values to write. Plans do not depend on the values that reads returned, so they follow from
// the seed, whatever the database does. The little that a client may learn comes through saw().
//
// In the simulation one client plans for all sessions. On a real database every session has its
// own client, with its own random numbers; a key number means the same key to all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ouro/predicate.h"
#include "ouro/workload.h"
#include "workload/random.h"

namespace ouro::workload {

enum class StepKind : std::uint8_t {
  Read,
  Write,
  Delete,  // Leaves a tombstone: a version that nobody else writes.
  Append,
  Scan,  // Reads the keys from `key` to `upper`.
  // Rows only. Each has a condition: `column` is between `low` and `high`, both included.
  Select,
  Aggregate,    // Computes `aggregate` of column `of`.
  UpdateWhere,  // Sets column c1 to `amount`.
  DeleteWhere,
};

// Columns are numbered: 1 is c1.
struct Step {
  StepKind kind = StepKind::Read;
  AggregateKind aggregate = AggregateKind::Min;
  std::uint8_t column = 0;  // The column of the condition.
  std::uint8_t of = 0;      // The column that is aggregated.
  std::uint32_t key = 0;
  std::uint32_t upper = 0;  // Scan: the last key of the range, included.
  std::int32_t low = 0;     // The bounds of the condition. Of a Write of a row: its c1,
  std::int32_t high = 0;    // and its c2.
  std::int32_t amount = 0;  // Of a Write to an account: what is added to its balance.
};

[[nodiscard]] constexpr bool only_reads(StepKind kind) {
  return kind == StepKind::Read || kind == StepKind::Scan || kind == StepKind::Select ||
         kind == StepKind::Aggregate;
}

// The plan of one transaction.
using Program = std::vector<Step>;

inline Step read_step(std::uint32_t key) { return {.kind = StepKind::Read, .key = key}; }
inline Step write_step(std::uint32_t key) { return {.kind = StepKind::Write, .key = key}; }

class Client {
 public:
  Client() = default;
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Replaces `program` by the steps of the next transaction, of which there is at least one.
  virtual void plan(Program& program) = 0;
  // The same for a client that may only read: plans until a transaction has reads, and keeps those.
  void plan_reads(Program& program);

  // Two different keys of the workload, for planted faults; twice the same if there is only one.
  struct KeyPair {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
  };
  virtual KeyPair pick_keys() = 0;
  // Two keys that were not planned so far, for planted faults of workloads that scan.
  virtual KeyPair new_pair() { return pick_keys(); }
  // Lists: a new key takes the place of this one in all transactions that are planned later.
  virtual void retire(std::uint32_t) {}
  // Tells the client how much `step` returned: the elements of a list, or the rows of a scan.
  virtual void saw(const Step&, std::size_t) {}

  // All keys that were planned so far are below this.
  [[nodiscard]] virtual std::uint32_t key_end() const = 0;

  static constexpr std::uint32_t kListLimit = 128;  // A list of so many elements is retired.
};

// Which client this is (from 0), and how many there are.
struct Seat {
  std::uint32_t number = 0;
  std::uint32_t clients = 1;
};

// REQUIRES: the options passed bad_workload().
[[nodiscard]] std::unique_ptr<Client> make_client(const WorkloadOptions& options, Seat seat = {});

// The random numbers of the client at `seat`. The client of the simulation is at seat 0.
[[nodiscard]] Random plan_random(std::uint64_t seed, Seat seat);

// The clients of each family of workloads, for make_client().
[[nodiscard]] std::unique_ptr<Client> make_mix(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_range(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_tpcc(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_rubis(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_twitter(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_predicates(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_hunt(const WorkloadOptions& options, Seat seat);

}  // namespace ouro::workload
