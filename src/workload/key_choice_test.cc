#include "workload/key_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ouro::workload {
namespace {

constexpr int kDraws = 1'000'000;

std::vector<double> shares(const WorkloadOptions& options) {
  const KeyChooser chooser(options);
  Random random(7, 0);
  std::vector<double> result(options.keys);
  for (int i = 0; i < kDraws; ++i) result.at(chooser.next(random)) += 1.0 / kDraws;
  return result;
}

TEST(KeyChoiceTest, UniformKeysAreEquallyLikely) {
  WorkloadOptions options;
  for (const double share : shares(options)) EXPECT_NEAR(share, 0.01, 0.001);
}

TEST(KeyChoiceTest, ZipfSharesFallWithTheRank) {
  for (const double theta : {0.0, 0.5, 0.99, 1.0, 2.0}) {
    WorkloadOptions options;
    options.key_choice = KeyChoice::Zipf;
    options.zipf_theta = theta;
    options.keys = 1000;
    double total = 0;
    for (int rank = 1; rank <= 1000; ++rank) total += std::pow(rank, -theta);
    const std::vector<double> seen = shares(options);
    for (int rank = 1; rank <= 1000; ++rank) {
      const double expected = std::pow(rank, -theta) / total;
      const double tolerance = expected * 0.02 + 6 * std::sqrt(expected / kDraws);
      EXPECT_NEAR(seen[static_cast<std::size_t>(rank - 1)], expected, tolerance)
          << "rank " << rank << ", theta " << theta;
    }
  }
}

TEST(KeyChoiceTest, HotKeysGetTheirShare) {
  WorkloadOptions options;
  options.key_choice = KeyChoice::Hotspot;
  const std::vector<double> seen = shares(options);
  for (std::size_t key = 0; key < 100; ++key) {
    EXPECT_NEAR(seen[key], key < 20 ? 0.8 / 20 : 0.2 / 80, 0.001) << "key " << key;
  }
}

TEST(KeyChoiceTest, ExtremeHotspotsStayInRange) {
  for (const double hot : {0.0, 1.0}) {
    WorkloadOptions options;
    options.key_choice = KeyChoice::Hotspot;
    options.hotspot_keys = hot;
    options.hotspot_ops = 1;
    const std::vector<double> seen = shares(options);
    EXPECT_NEAR(seen[0], hot == 0 ? 1 : 0.01, 0.001);
  }
}

// Only integers and correctly rounded operations are used, so every machine draws these numbers.
TEST(RandomTest, IsTheSameEverywhere) {
  Random random(1, 2);
  EXPECT_EQ(random.next(), 5796968857530213156u);
  EXPECT_EQ(random.below(1000), 683u);
}

TEST(RandomTest, CertainAndImpossibleChances) {
  Random random(1, 2);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(random.hit(Chance(1)));
    ASSERT_FALSE(random.hit(Chance(0)));
  }
}

}  // namespace
}  // namespace ouro::workload
