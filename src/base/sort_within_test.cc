#include "base/sort_within.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <utility>

namespace ouro {
namespace {

TEST(SortWithinTest, SortsAsStableSortDoes) {
  const Budget budget;
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 2u, 65'535u, 65'536u, 65'537u, 131'072u, 300'001u}) {
    std::vector<std::pair<std::uint32_t, std::size_t>> values;
    for (std::size_t i = 0; i < size; ++i) values.emplace_back(random() % 1000, i);
    auto expected = values;
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(expected.begin(), expected.end(), less);
    ASSERT_TRUE(sort_within(budget, values, less)) << size;
    EXPECT_EQ(values, expected) << size;
  }
}

TEST(SortWithinTest, StopsWhenTheBudgetIsExhausted) {
  const std::atomic<bool> cancelled{true};
  const Budget budget(std::chrono::milliseconds(0), &cancelled);
  std::vector<int> values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -static_cast<int>(i);
  EXPECT_FALSE(sort_within(budget, values, std::less<>()));
}

}  // namespace
}  // namespace ouro
