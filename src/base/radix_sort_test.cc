#include "base/radix_sort.h"

#include <gtest/gtest.h>

#include <random>

namespace ouro {
namespace {

TEST(RadixSortTest, SortsLikeAStableSort) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const unsigned bits = static_cast<unsigned>(random() % 65);
    std::vector<RadixEntry> entries(random() % 200);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::uint64_t key = bits == 64 ? random() : random() & ((std::uint64_t{1} << bits) - 1);
      entries[i] = {key, static_cast<std::uint32_t>(i)};
    }
    std::vector<RadixEntry> expected = entries;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const RadixEntry& a, const RadixEntry& b) { return a.key < b.key; });
    radix_sort(entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(entries[i].key, expected[i].key) << "round " << round;
      ASSERT_EQ(entries[i].value, expected[i].value) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace ouro
