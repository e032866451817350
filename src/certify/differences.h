// Where two orders of the same versions differ.
//
// Each version has a time by one order and a place in the other. We are asked which versions come
// before a moment in one order and not in the other. So we descend a tree over the places, which
// knows the least and the greatest time below each node, and skip nodes without such versions. An
// answer costs its length, times a logarithm, and not the length of the history.
#pragma once

#include <cstdint>
#include <vector>

namespace ouro::recheck {

class Differences {
 public:
  // The times of all versions, by their places.
  explicit Differences(std::vector<std::uint32_t> times);

  // Adds to `out` the places before `place` whose time is `time` or later, and the places from
  // `place` on whose time is earlier. False, and only a part of them, if they are more than `most`.
  bool find(std::uint32_t place, std::uint32_t time, std::size_t most,
            std::vector<std::uint32_t>& out) const;

 private:
  std::uint32_t count_;
  std::uint32_t leaves_ = 1;          // A power of two.
  std::vector<std::uint32_t> least_;  // By node: children of n are 2n and 2n + 1.
  std::vector<std::uint32_t> greatest_;
};

}  // namespace ouro::recheck
