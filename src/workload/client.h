// What clients ask for: the steps of one transaction after the other, as data.
//
// A client plans; whoever runs the plan (the simulation, or src/run on a real database) chooses
// the values to write. Plans do not depend on what reads returned, so they follow from the seed,
// whatever the database does; what little a client may learn comes through saw().
//
// In the simulation one client plans for all sessions. On a real database every session has its
// own, with its own random numbers, and keys mean the same to all of them.
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
  Aggregate,    // `aggregate` of `of`.
  UpdateWhere,  // Sets c1 to `amount`.
  DeleteWhere,
};

struct Step {
  StepKind kind = StepKind::Read;
  AggregateKind aggregate = AggregateKind::Min;
  std::uint8_t column = 0;
  std::uint8_t of = 0;
  std::uint32_t key = 0;
  std::uint32_t upper = 0;
  std::int32_t low = 0;     // Of a written row: its c1 …
  std::int32_t high = 0;    // … and c2.
  std::int32_t amount = 0;  // Of a write to an account: what its balance gains.
};

[[nodiscard]] constexpr bool only_reads(StepKind kind) {
  return kind == StepKind::Read || kind == StepKind::Scan || kind == StepKind::Select ||
         kind == StepKind::Aggregate;
}

// A transaction to be.
using Program = std::vector<Step>;

inline Step read_step(std::uint32_t key) { return {.kind = StepKind::Read, .key = key}; }
inline Step write_step(std::uint32_t key) { return {.kind = StepKind::Write, .key = key}; }

class Client {
 public:
  Client() = default;
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Replaces `program` by the steps of the next transaction. Never empty.
  virtual void plan(Program& program) = 0;
  // The same for a client that may only read: the reads of a planned transaction that has some.
  void plan_reads(Program& program);

  // Two different keys; the same twice if there is only one.
  struct KeyPair {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
  };
  virtual KeyPair pick_keys() = 0;
  // Lists: no transaction planned from here on uses `key`; the next new key stands in for it.
  virtual void retire(std::uint32_t) {}
  // What came back for `step`: elements of a list, rows of a scan.
  virtual void saw(const Step&, std::size_t) {}

  // All keys ever planned are below this.
  [[nodiscard]] virtual std::uint32_t key_end() const = 0;

  static constexpr std::uint32_t kListLimit = 128;  // Elements, then the key is retired.
};

// Which client of how many.
struct Seat {
  std::uint32_t number = 0;
  std::uint32_t clients = 1;
};

// REQUIRES: the options passed bad_workload().
[[nodiscard]] std::unique_ptr<Client> make_client(const WorkloadOptions& options, Seat seat = {});

// Random numbers for planning. The client at seat 0 draws what the simulation's does.
[[nodiscard]] Random plan_random(std::uint64_t seed, Seat seat);

[[nodiscard]] std::unique_ptr<Client> make_mix(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_range(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_tpcc(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_rubis(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_twitter(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_predicates(const WorkloadOptions& options, Seat seat);
[[nodiscard]] std::unique_ptr<Client> make_hunt(const WorkloadOptions& options, Seat seat);

}  // namespace ouro::workload
