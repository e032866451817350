// Hunts: transactions in the shape of one anomaly, on so few keys that it is likely; and a bank.
//
// Where an anomaly depends on the order of two versions, writers read what they overwrite, so that
// the order is observed. Where it needs two keys, these come in pairs (0 and 1, 2 and 3 …).
#include <algorithm>
#include <utility>

#include "workload/planner.h"

namespace ouro::workload {
namespace {

class Hunt final : public Planner {
 public:
  Hunt(const WorkloadOptions& options, Seat seat)
      : Planner(options, seat, options.keys), kind_(options.workload) {}

  void plan(Program& program) override {
    program.clear();
    switch (kind_) {
      case WorkloadKind::WriteSkew:
        write_skew(program);
        return;
      case WorkloadKind::LongFork:
        long_fork(program);
        return;
      case WorkloadKind::ReadSkew:
        read_skew(program);
        return;
      case WorkloadKind::Phantom:
        phantom(program);
        return;
      case WorkloadKind::FreshSkew:
        fresh_skew(program);
        return;
      case WorkloadKind::Bank:
        bank(program);
        return;
      default:
        read_write(program, below(fixed_keys_));
    }
  }

  // In a range where half of the keys are there, phantoms are rare: so we go on to the next range.
  void saw(const Step& step, std::size_t size) override {
    if (kind_ == WorkloadKind::FreshSkew) {
      used_ = used_ || size > 0;
      return;
    }
    if (step.kind == StepKind::Scan && step.key == first_ && size >= full()) {
      first_ = key_end_;  // Planted faults may have taken some keys.
      key_end_ += fixed_keys_;
    }
  }

 private:
  // How many rows make a range count as full.
  [[nodiscard]] std::size_t full() const { return std::max(1U, fixed_keys_ / 2); }

  KeyPair pair() {
    const std::uint32_t pairs = std::max(1U, fixed_keys_ / 2);
    const std::uint32_t x = 2 * below(pairs);
    return {x, std::min(x + 1, fixed_keys_ - 1)};
  }

  void write_skew(Program& program) {
    const KeyPair keys = pair();
    program = {read_step(keys.x), read_step(keys.y)};
    program.push_back(write_step(percent(50) ? keys.x : keys.y));
  }

  void long_fork(Program& program) {
    const KeyPair keys = pair();
    if (percent(50)) {
      read_write(program, percent(50) ? keys.x : keys.y);
      return;
    }
    program = {read_step(keys.x), read_step(keys.y)};
    if (percent(50)) std::swap(program[0], program[1]);
  }

  void read_skew(Program& program) {
    const KeyPair keys = pair();
    program = {read_step(keys.x), read_step(keys.y)};
    if (percent(50)) return;
    program.push_back(write_step(keys.x));
    program.push_back(write_step(keys.y));
  }

  // Scans a range of as many keys as the options say, all absent at first, and mostly inserts one.
  void phantom(Program& program) {
    program.push_back({.kind = StepKind::Scan, .key = first_, .upper = first_ + fixed_keys_ - 1});
    if (percent(75)) program.push_back(write_step(first_ + below(fixed_keys_)));
  }

  // Each round has two keys of its own, x and y, both absent at first. Some transactions look for x
  // and insert y, others insert x and look for y: write skew if both miss the other's. Whoever
  // finds a key updates y, which is likely to be in progress while others still look for y, and
  // goes on to the next round.
  void fresh_skew(Program& program) {
    const std::uint32_t x = first_;
    const std::uint32_t y = x + 1;
    key_end_ = std::max(key_end_, y + 1);
    if (std::exchange(used_, false)) {
      first_ = key_end_;
      program = {write_step(y), read_step(y), read_step(y), read_step(y)};
      return;
    }
    if (percent(50)) {
      program = {{.kind = StepKind::Scan, .key = x, .upper = x}, write_step(y)};
      return;
    }
    program = {write_step(x), read_step(x), read_step(x), read_step(x)};
    program.push_back({.kind = StepKind::Scan, .key = y, .upper = y});
  }

  void bank(Program& program) {
    if (percent(20)) {  // An audit.
      for (std::uint32_t key = 0; key < fixed_keys_; ++key) program.push_back(read_step(key));
      return;
    }
    const KeyPair accounts = pick_keys();
    const auto amount = static_cast<std::int32_t>(1 + below(5));
    program = {read_step(accounts.x), read_step(accounts.y), write_step(accounts.x),
               write_step(accounts.y)};
    program[2].amount = -amount;
    program[3].amount = accounts.x == accounts.y ? 0 : amount;
  }

  WorkloadKind kind_;
  std::uint32_t first_ = 0;  // Phantom, FreshSkew: the first key of the range in use.
  bool used_ = false;        // FreshSkew: a key of it was found.
};

}  // namespace

std::unique_ptr<Client> make_hunt(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Hunt>(options, seat);
}

}  // namespace ouro::workload
