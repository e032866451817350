#include "serve/seen_batches.h"

#include <gtest/gtest.h>

namespace ouro::serving {
namespace {

TEST(SeenBatchesTest, NumbersAreSeenOnceAddedAlsoOutOfOrder) {
  SeenBatches seen;
  EXPECT_FALSE(seen.contains("a", 1));
  seen.add("a", 3);
  seen.add("a", 1);
  EXPECT_TRUE(seen.contains("a", 1));
  EXPECT_FALSE(seen.contains("a", 2)) << "it may still be on its way";
  EXPECT_TRUE(seen.contains("a", 3));
  EXPECT_FALSE(seen.contains("b", 1));
}

TEST(SeenBatchesTest, NumbersFarBelowTheLargestCountAsSeen) {
  SeenBatches seen;
  for (std::uint64_t number = 2; number <= SeenBatches::kNumbers + 12; number += 1)
    seen.add("a", number);
  EXPECT_TRUE(seen.contains("a", 1));
  EXPECT_TRUE(seen.contains("a", 12));
  EXPECT_EQ(seen.clients().at("a").above.size(), SeenBatches::kNumbers);
  EXPECT_FALSE(seen.contains("a", SeenBatches::kNumbers + 13));
}

TEST(SeenBatchesTest, RaisingTheFloorForgetsWhatIsBelow) {
  SeenBatches seen;
  seen.add("a", 5);
  seen.add("a", 9);
  seen.raise("a", 7);
  EXPECT_TRUE(seen.contains("a", 6));
  EXPECT_FALSE(seen.contains("a", 8));
  EXPECT_TRUE(seen.contains("a", 9));
  seen.raise("a", 2);
  EXPECT_TRUE(seen.contains("a", 7)) << "a floor never sinks";
}

TEST(SeenBatchesTest, TheClientThatWasSilentLongestIsForgotten) {
  SeenBatches seen;
  for (std::size_t i = 0; i < SeenBatches::kClients; ++i) seen.add(std::to_string(i), 1);
  seen.add("0", 2);
  seen.add("new", 1);
  EXPECT_EQ(seen.clients().size(), SeenBatches::kClients);
  EXPECT_TRUE(seen.contains("0", 1));
  EXPECT_FALSE(seen.contains("1", 1));
  EXPECT_TRUE(seen.contains("new", 1));
}

}  // namespace
}  // namespace ouro::serving
