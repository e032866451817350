// A set of numbers below a limit that gives its smallest number: a priority queue in linear memory.
//
// It is a tree of bit maps. At level 0 a bit says whether a number is in the set; at each further
// level, whether one of 64 words below has a bit. So an operation touches one word per level, and
// there are four levels for ten million numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ouro {

class RankSet {
 public:
  // For numbers below `limit`.
  explicit RankSet(std::size_t limit) {
    do {
      limit = (limit + 63) / 64;
      levels_.emplace_back(limit, 0);
    } while (limit > 1);
  }

  [[nodiscard]] bool empty() const { return levels_.back().empty() || levels_.back()[0] == 0; }

  void insert(std::size_t number) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[number / 64];
      const bool known = word != 0;
      word |= std::uint64_t{1} << (number % 64);
      if (known) return;
      number /= 64;
    }
  }

  // Removes and returns the smallest. REQUIRES: !empty().
  std::size_t pop() {
    std::size_t number = 0;
    for (std::size_t l = levels_.size(); l-- > 0;) {
      number = number * 64 + static_cast<std::size_t>(std::countr_zero(levels_[l][number]));
    }
    std::size_t at = number;
    for (auto& level : levels_) {
      std::uint64_t& word = level[at / 64];
      word &= word - 1;  // The smallest is the lowest bit at every level.
      if (word != 0) break;
      at /= 64;
    }
    return number;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace ouro
