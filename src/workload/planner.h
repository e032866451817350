// What all clients have in common except the mixtures (mix.h).
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
  KeyPair new_pair() override {
    key_end_ += 2;
    return {key_end_ - 2, key_end_ - 1};
  }
  [[nodiscard]] std::uint32_t key_end() const override { return key_end_; }

 protected:
  // Keys below `fixed_keys` are in use from the start; new_keys() makes those above.
  Planner(const WorkloadOptions& options, Seat seat, std::uint64_t fixed_keys)
      : seat_(seat),
        random_(plan_random(options.seed, seat)),
        fixed_keys_(static_cast<std::uint32_t>(fixed_keys)),
        key_end_(fixed_keys_) {}

  // A random number in [0, bound), and whether something of `chance` percent happens.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }
  [[nodiscard]] bool percent(std::uint32_t chance) { return below(100) < chance; }
  // The first of `count` new keys that no other client makes: the next block of this client.
  // REQUIRES: all clients always ask for the same `count`. So a client can guess by key_of_block()
  // where the blocks of others are.
  std::uint32_t new_keys(std::uint32_t count) {
    const std::uint32_t first = key_of_block(seat_.number, blocks_++, count);
    key_end_ = std::max(key_end_, first + count);
    return first;
  }
  // The first key of block `block` (from 0) of the client at `seat`.
  [[nodiscard]] std::uint32_t key_of_block(std::uint32_t seat, std::uint32_t block,
                                           std::uint32_t count) const {
    return fixed_keys_ + (block * seat_.clients + seat) * count;
  }
  // How many blocks this client has made.
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
