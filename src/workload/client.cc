#include "workload/client.h"

#include <algorithm>

namespace ouro::workload {
namespace {

// Streams of random numbers: seat n has stream 1 + 1024 · n, as the simulation uses 1 to 6.
constexpr std::uint64_t kStream = 1;
constexpr std::uint64_t kSeatStride = 1024;

}  // namespace

void Client::plan_reads(Program& program) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    plan(program);
    std::erase_if(program, [](const Step& step) { return !only_reads(step.kind); });
    if (!program.empty()) return;
  }
  const KeyPair keys = pick_keys();
  program = {read_step(keys.x), read_step(keys.y)};
}

Random plan_random(std::uint64_t seed, Seat seat) {
  return Random(seed, kStream + kSeatStride * seat.number);
}

std::unique_ptr<Client> make_client(const WorkloadOptions& options, Seat seat) {
  switch (options.workload) {
    case WorkloadKind::General:
    case WorkloadKind::BlindWRm:
    case WorkloadKind::BlindWRw:
    case WorkloadKind::ListAppend:
    case WorkloadKind::ReadModifyWrite:
    case WorkloadKind::ReadWrite:
    case WorkloadKind::HeavyWrite:
      return make_mix(options, seat);
    case WorkloadKind::RangeBalanced:
    case WorkloadKind::RangeQueryHeavy:
    case WorkloadKind::RangeInsertDeleteHeavy:
      return make_range(options, seat);
    case WorkloadKind::TpcC:
      return make_tpcc(options, seat);
    case WorkloadKind::Rubis:
      return make_rubis(options, seat);
    case WorkloadKind::Twitter:
      return make_twitter(options, seat);
    case WorkloadKind::Predicates:
      return make_predicates(options, seat);
    case WorkloadKind::Bank:
    case WorkloadKind::LostUpdate:
    case WorkloadKind::WriteSkew:
    case WorkloadKind::LongFork:
    case WorkloadKind::ReadSkew:
    case WorkloadKind::Phantom:
    case WorkloadKind::FreshSkew:
      break;
  }
  return make_hunt(options, seat);
}

}  // namespace ouro::workload
