#include "workload/mix.h"

#include <algorithm>
#include <numeric>

namespace ouro::workload {
namespace {

// How often a pair, a single read and a single write are drawn, so that the shares come out as
// mix.h says. Integers, so that no machine rounds differently; so small that a million times their
// sum is below 2^64.
struct Weights {
  std::uint64_t pair = 0;
  std::uint64_t read = 0;
  std::uint64_t write = 0;
};

Weights weights_of(double read_share, double rmw_share) {
  constexpr std::uint64_t kOne = 1 << 20;
  const auto reads = static_cast<std::uint64_t>(read_share * double{kOne});
  const auto rmw = static_cast<std::uint64_t>(rmw_share * double{kOne});
  const std::uint64_t pairs = (kOne - reads) * rmw;
  return {.pair = pairs,
          .read = reads * kOne > pairs ? reads * kOne - pairs : 0,
          .write = (kOne - reads) * (kOne - rmw)};
}

// The shares of the options, or those of King Cobra's workloads. King Cobra counts a
// read-modify-write as one operation, we count it as two.
struct Shares {
  double read = 0;
  double rmw = 0;
};
Shares shares_of(const WorkloadOptions& options) {
  switch (options.workload) {
    case WorkloadKind::ReadModifyWrite:  // 25 : 25 : 50
      return {0.5, 2.0 / 3};
    case WorkloadKind::ReadWrite:
      return {0.5, 0};
    case WorkloadKind::HeavyWrite:  // 10 : 80 : 10
      return {2.0 / 11, 1.0 / 9};
    default:
      return {options.read_share, options.rmw_share};
  }
}

}  // namespace

Mix::Mix(const WorkloadOptions& options, Seat seat)
    : kind_(options.workload),
      ops_per_txn_(options.ops_per_txn),
      ops_at_least_(options.ops_at_least == 0 ? options.ops_per_txn : options.ops_at_least),
      random_(plan_random(options.seed, seat)),
      chooser_(options),
      read_(shares_of(options).read),
      read_only_(options.workload == WorkloadKind::BlindWRm ? 0.9 : 0.5),
      key_end_(static_cast<std::uint32_t>(options.keys)) {
  const Weights weights = weights_of(shares_of(options).read, shares_of(options).rmw);
  pair_weight_ = weights.pair;
  read_weight_ = weights.read;
  write_weight_ = weights.write;
  if (lists()) {
    key_of_slot_.resize(options.keys);
    std::iota(key_of_slot_.begin(), key_of_slot_.end(), 0);
    slot_of_key_ = key_of_slot_;
  }
}

std::uint32_t Mix::pick_key() {
  const std::uint32_t slot = chooser_.next(random_);
  return lists() ? key_of_slot_[slot] : slot;
}

Client::KeyPair Mix::pick_keys() {
  const std::uint32_t x = pick_key();
  // The choice may be so skewed that two draws hardly ever differ; then take a neighbour.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint32_t y = pick_key();
    if (y != x) return {x, y};
  }
  if (!lists()) return {x, x > 0 ? x - 1 : std::min(x + 1, key_end_ - 1)};
  const std::uint32_t slot = slot_of_key_[x];
  const std::size_t slots = key_of_slot_.size();
  return {x, key_of_slot_[(slot + 1) % slots]};
}

void Mix::retire(std::uint32_t key) {
  const std::uint32_t slot = slot_of_key_[key];
  if (key_of_slot_[slot] != key) return;
  key_of_slot_[slot] = key_end_++;
  slot_of_key_.push_back(slot);
}

// On a real database, lists are retired here; in the simulation, Simulation::record() does it.
void Mix::saw(const Step& step, std::size_t size) {
  if (lists() && size >= kListLimit && step.key < slot_of_key_.size()) retire(step.key);
}

void Mix::plan(Program& program) {
  program.clear();
  std::uint32_t length = ops_per_txn_;
  if (ops_at_least_ < length) {
    length = ops_at_least_ + static_cast<std::uint32_t>(random_.below(length - ops_at_least_ + 1));
  }
  if (kind_ != WorkloadKind::BlindWRm && kind_ != WorkloadKind::BlindWRw) {
    plan_mix(program, length);
    return;
  }
  const bool write = !random_.hit(read_only_);
  for (std::uint32_t i = 0; i < length; ++i) {
    program.push_back(write ? write_step(pick_key()) : read_step(pick_key()));
  }
}

// A transaction has room for length / 2 pairs. Each of them is drawn with the probability that
// makes the share of pairs come out.
std::uint32_t Mix::draw_pair_count(std::uint32_t length) {
  const std::uint32_t twos = length / 2;
  const std::uint64_t op_weight = 2 * pair_weight_ + read_weight_ + write_weight_;
  std::uint32_t pairs = 0;
  for (std::uint32_t i = 0; i < twos && pair_weight_ != 0; ++i) {
    if (random_.below(twos * op_weight) < length * pair_weight_) ++pairs;
  }
  return pairs;
}

// Whether an operation that is not part of a pair is a write.
bool Mix::draw_single_write(std::uint32_t length) {
  const std::uint64_t singles = read_weight_ + write_weight_;
  if (length == 1 || singles == 0) return !random_.hit(read_);
  return random_.below(singles) >= read_weight_;
}

void Mix::plan_mix(Program& program, std::uint32_t length) {
  const StepKind write = lists() ? StepKind::Append : StepKind::Write;
  std::uint64_t pairs = draw_pair_count(length);
  std::uint64_t units = length - pairs;
  for (; units > 0; --units) {
    const std::uint32_t key = pick_key();
    if (pairs > 0 && random_.below(units) < pairs) {
      program.push_back(read_step(key));
      program.push_back({.kind = write, .key = key});
      --pairs;
    } else {
      program.push_back({.kind = draw_single_write(length) ? write : StepKind::Read, .key = key});
    }
  }
}

std::unique_ptr<Client> make_mix(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Mix>(options, seat);
}

}  // namespace ouro::workload
