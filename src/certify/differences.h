// Where two orders of the same versions differ.
//
// Each version has a time by the one and a place in the other. Asked for those that one order has
// up to a moment and the other has not, we descend a tree over the places that knows the least and
// the greatest time below each node, and skip what has none of them. So an answer costs its length,
// not that of the history; where the orders agree, next to nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace ouro::recheck {

class Differences {
 public:
  // The times of all versions, by their places.
  explicit Differences(std::vector<std::uint32_t> times);

  // Adds the places before `place` whose time is not before `time`, and those from there on whose
  // time is. False, and only a part, if they are more than `most`.
  bool find(std::uint32_t place, std::uint32_t time, std::size_t most,
            std::vector<std::uint32_t>& out) const;

 private:
  std::uint32_t count_;
  std::uint32_t leaves_ = 1;          // A power of two.
  std::vector<std::uint32_t> least_;  // By node: children of n are 2n and 2n + 1.
  std::vector<std::uint32_t> greatest_;
};

}  // namespace ouro::recheck
