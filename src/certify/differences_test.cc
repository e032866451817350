// Where two orders of the same versions differ, found by the tree and by a look at all of them.

#include "certify/differences.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace ouro::recheck {
namespace {

TEST(DifferencesTest, FindsAllAndOnlyThose) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::uint32_t> times(random() % 40);
    for (auto& time : times) time = static_cast<std::uint32_t>(random() % 20);
    const Differences differences(times);
    const auto place = static_cast<std::uint32_t>(random() % (times.size() + 1));
    const auto time = static_cast<std::uint32_t>(random() % 21);
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t i = 0; i < times.size(); ++i) {
      if ((i < place) == (times[i] >= time)) wanted.push_back(i);
    }
    std::vector<std::uint32_t> found;
    ASSERT_TRUE(differences.find(place, time, wanted.size(), found)) << "round " << round;
    ASSERT_EQ(found, wanted) << "round " << round;
    found.clear();
    ASSERT_EQ(wanted.empty() || !differences.find(place, time, wanted.size() - 1, found), true);
  }
}

TEST(DifferencesTest, ThereMayBeNothingAndTimesMayBeTheGreatest) {
  std::vector<std::uint32_t> found;
  EXPECT_TRUE(Differences({}).find(0, 0, 0, found));
  EXPECT_TRUE(found.empty());
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const Differences differences({kMost, 0, kMost});
  EXPECT_TRUE(differences.find(3, kMost, 2, found));
  EXPECT_EQ(found, (std::vector<std::uint32_t>{0, 2}));
  found.clear();
  EXPECT_TRUE(differences.find(0, kMost, 1, found));
  EXPECT_EQ(found, (std::vector<std::uint32_t>{1}));
}

}  // namespace
}  // namespace ouro::recheck
