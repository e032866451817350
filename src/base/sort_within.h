// Sorts while a budget lasts: first blocks, then merges of two. The budget is asked between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/budget.h"

namespace ouro {

// Sorts `values` by `less`; equal ones keep their order. Returns false if the budget was exhausted;
// the values are then all there, in no particular order.
template <class T, class Less>
[[nodiscard]] bool sort_within(const Budget& budget, std::vector<T>& values, const Less& less) {
  constexpr std::size_t kBlock = 1 << 16;
  const std::size_t size = values.size();
  const auto at = [size](std::vector<T>& v, std::size_t i) {
    return v.begin() + static_cast<std::ptrdiff_t>(std::min(i, size));
  };
  if (std::is_sorted(values.begin(), values.end(), less)) return true;
  for (std::size_t i = 0; i < size; i += kBlock) {
    if (budget.exhausted()) return false;
    std::stable_sort(at(values, i), at(values, i + kBlock), less);
  }
  if (size <= kBlock) return true;
  std::vector<T> other(size);
  for (std::size_t width = kBlock; width < size; width *= 2) {
    for (std::size_t i = 0; i < size; i += 2 * width) {
      if (budget.exhausted()) return false;
      std::merge(at(values, i), at(values, i + width), at(values, i + width),
                 at(values, i + 2 * width), at(other, i), less);
    }
    values.swap(other);
  }
  return true;
}

}  // namespace ouro
