// What the clients that are no mixtures have in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/client.h"
#include "workload/random.h"

namespace ouro::workload {

class Planner : public Client {
 public:
  KeyPair pick_keys() override {
    const std::uint32_t x = below(fixed_keys_);
    return {x, fixed_keys_ == 1 ? x : (x + 1 + below(fixed_keys_ - 1)) % fixed_keys_};
  }
  [[nodiscard]] std::uint32_t key_end() const override { return key_end_; }

 protected:
  // Keys below `fixed_keys` are there from the beginning of the plan.
  Planner(const WorkloadOptions& options, Seat seat, std::uint64_t fixed_keys)
      : seat_(seat),
        random_(plan_random(options.seed, seat)),
        fixed_keys_(static_cast<std::uint32_t>(fixed_keys)),
        key_end_(fixed_keys_) {}

  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }
  [[nodiscard]] bool percent(std::uint32_t chance) { return below(100) < chance; }
  // `count` keys that no other seat makes, from the first on; a block of `count` always comes from
  // the same places, so that other clients can guess them.
  std::uint32_t new_keys(std::uint32_t count) {
    const std::uint32_t first = key_of_block(seat_.number, blocks_++, count);
    key_end_ = std::max(key_end_, first + count);
    return first;
  }
  // Where the client at `seat` has its `block`-th block of `count` keys.
  [[nodiscard]] std::uint32_t key_of_block(std::uint32_t seat, std::uint32_t block,
                                           std::uint32_t count) const {
    return fixed_keys_ + (block * seat_.clients + seat) * count;
  }
  [[nodiscard]] std::uint32_t block_count() const { return blocks_; }

  static void read_write(Program& program, std::uint32_t key) {
    program.push_back(read_step(key));
    program.push_back(write_step(key));
  }

  Seat seat_;
  Random random_;
  std::uint32_t fixed_keys_;
  std::uint32_t key_end_;

 private:
  std::uint32_t blocks_ = 0;
};

}  // namespace ouro::workload
