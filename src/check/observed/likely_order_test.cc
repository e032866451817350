#include "check/observed/likely_order.h"

#include <gtest/gtest.h>

#include "tests/case_file.h"

namespace ouro {
namespace {

std::vector<Node> order_of(std::string_view text) {
  return likely_commit_order(oracle::history_of(text));
}
using Nodes = std::vector<Node>;

TEST(LikelyOrderTest, CommitTimestampsGoFirst) {
  EXPECT_EQ(order_of("T1 [1,2] {1,9}: w x 1\nT2 [3,4] {2,5}: w x 2"), (Nodes{1, 0}));
}

TEST(LikelyOrderTest, ThenTheClocksOfClients) {
  EXPECT_EQ(order_of("T1 [1,9]: w x 1\nT2 [2,5]: w x 2"), (Nodes{1, 0}));
  EXPECT_EQ(order_of("T1 [1,9]: w x 1\nT2: w x 2"), (Nodes{0, 1})) << "if all have them";
}

TEST(LikelyOrderTest, ThenTheOrderOfTheSourceIfSessionsAlternate) {
  constexpr std::string_view kText = "T1 @a: w x 1\nT2 @b: w x 2\nT3 @a: w x 3\nT4 @b: w x 4";
  EXPECT_EQ(order_of(kText), (Nodes{0, 1, 2, 3}));
  EXPECT_FALSE(order_is_vague(oracle::history_of(kText)));
}

TEST(LikelyOrderTest, OtherwiseSessionsRunSideBySide) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    const std::string number = std::to_string(i);
    text += "T" + number + (i < 4 ? " @a: w x " : " @b: w x ") + number + "\n";
  }
  EXPECT_TRUE(order_is_vague(oracle::history_of(text)));
  const Nodes order = order_of(text);
  EXPECT_EQ(order[0] + order[1], 4u) << "the first of both";
  EXPECT_EQ(order[6] + order[7], 10u) << "the last of both";
}

}  // namespace
}  // namespace ouro
