// One wrong guess after the other is changed.

#include "check/guess_repair.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T4 read a value that the initial version and T1 to T3 have. Positions are those of the numbers.
class GuessRepairTest : public testing::Test {
 protected:
  GuessRepairTest() {
    for (std::uint32_t i = 1; i <= 5; ++i) places_.begin.push_back(i);
    places_.commit = places_.begin;
    guess_ = {{.read = OpId{3}, .key = t_.key("x"), .writer = Tiny::txn(3)}};
  }
  // An anomaly with an edge that the read of T4 is said to prove.
  static Anomaly about(OpId read, KeyId key) {
    return {.kind = AnomalyKind::ForbiddenCycle,
            .txns = {},
            .ops = {},
            .edges = {{.from = Tiny::txn(3), .to = Tiny::txn(4), .key = key, .to_op = read}}};
  }

  Tiny t_{"initial 7\nT1: w x 7\nT2: w x 7\nT3: w x 7\nT4: r x 7\nT5: w x 8"};
  Positions places_;
  std::vector<ReadSource> guess_;
};

TEST_F(GuessRepairTest, TheNearestVersionBeforeTheReadIsTriedNextAndNoneTwiceBeforeAll) {
  GuessRepair repair(t_.observed(), places_, guess_);
  const Anomaly wrong = about(OpId{3}, t_.key("x"));
  std::string tried;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(repair.change({&wrong, 1}));
    tried += Tiny::name(guess_[0].writer) + ' ';
  }
  EXPECT_EQ(tried, "T2 T1 T0 T3 ");
}

TEST_F(GuessRepairTest, WhatDoesNotRestOnAGuessIsNotMended) {
  GuessRepair repair(t_.observed(), places_, guess_);
  const Anomaly other = about(OpId{4}, t_.key("x"));
  EXPECT_FALSE(repair.change({&other, 1}));
  EXPECT_FALSE(repair.change({}));
  EXPECT_EQ(guess_[0].writer, Tiny::txn(3));
}

TEST_F(GuessRepairTest, TheSupportOfAnAnomalyCountsToo) {
  GuessRepair repair(t_.observed(), places_, guess_);
  Anomaly wrong = about(OpId{3}, t_.key("x"));
  std::swap(wrong.edges, wrong.support);
  EXPECT_TRUE(repair.change({&wrong, 1}));
}

}  // namespace
}  // namespace ouro
