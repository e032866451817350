// Sorts by an integer key without comparing: least significant digit first, stable.
//
// Digits have 11 bits. Digits in which all keys agree are skipped. Keys that are sorted already, as
// timestamps often are, are left alone. Cost: linear.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ouro {

struct RadixEntry {
  std::uint64_t key = 0;
  std::uint32_t value = 0;
};

// Sorts `entries` by key; equal keys keep their order. Needs as much memory again for a while.
inline void radix_sort(std::vector<RadixEntry>& entries) {
  constexpr unsigned kDigit = 11;
  constexpr std::uint64_t kMask = (1u << kDigit) - 1;
  std::uint64_t all = 0;
  std::uint64_t common = ~std::uint64_t{0};
  bool sorted = true;
  std::uint64_t before = 0;
  for (const RadixEntry& entry : entries) {
    all |= entry.key;
    common &= entry.key;
    sorted &= before <= entry.key;
    before = entry.key;
  }
  if (sorted) return;
  const std::uint64_t differing = all & ~common;
  std::vector<RadixEntry> other(entries.size());
  std::array<std::size_t, kMask + 1> next{};
  for (unsigned shift = 0; shift < 64; shift += kDigit) {
    if ((differing >> shift & kMask) == 0) continue;
    next.fill(0);
    for (const RadixEntry& entry : entries) ++next[entry.key >> shift & kMask];
    std::size_t sum = 0;
    for (std::size_t& count : next) {
      const std::size_t here = count;
      count = sum;
      sum += here;
    }
    for (const RadixEntry& entry : entries) other[next[entry.key >> shift & kMask]++] = entry;
    entries.swap(other);
  }
}

}  // namespace ouro
