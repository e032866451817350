// Random numbers that are the same on every machine.
//
// Standard libraries differ in what their distributions draw, so we use none and draw with integers
// only. The generator is SplitMix64: eight bytes of state, and good enough for workloads.
#pragma once

#include <cstdint>

namespace ouro::workload {

// A probability, ready to be compared with a random word.
class Chance {
 public:
  // REQUIRES: 0 <= share <= 1.
  explicit Chance(double share)
      : certain_(share >= 1),
        threshold_(certain_ ? 0 : static_cast<std::uint64_t>(share * 18446744073709551616.0)) {}
  [[nodiscard]] bool hit(std::uint64_t word) const { return certain_ || word < threshold_; }

 private:
  bool certain_;
  std::uint64_t threshold_;
};

class Random {
 public:
  // Streams of one seed are independent: what one part of a program draws from its stream does not
  // change what other parts draw.
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed) ^ mix(~stream)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  // Uniform in [0, bound), up to a bias of bound / 2^64. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }
  bool hit(const Chance& chance) { return chance.hit(next()); }

 private:
  __extension__ using Wide = unsigned __int128;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace ouro::workload
