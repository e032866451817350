#include "kafka/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ouro::kafka {
namespace {

using When = Board::When;
constexpr ShardCounts kBoardCounts{2, 1};
constexpr auto kConflict = static_cast<std::size_t>(AnomalyKind::WriteConflict);
const Board::Time kNow{};

Board board() { return {kBoardCounts, Level::SessionSi}; }

ShardTally tally(ShardId shard, std::int64_t offset) {
  ShardTally out{.shard = shard, .counts = kBoardCounts};
  out.offset = offset;
  return out;
}

constexpr const char* kEvent =
    R"({"event":0,"source":"keys-1","source_number":1,"number":4,"kind":"violation","anomaly":"write conflict","headline":"h","reported":1.5})";

TEST(KafkaBoardTest, AnEventIsTakenOnce) {
  Board all = board();
  const auto first = all.take("keys-1/1", kEvent);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->in_source, 4u);
  EXPECT_FALSE(all.take("keys-1/1", kEvent)->has_value());
  EXPECT_TRUE(all.take("keys-2/1", kEvent)->has_value());
  EXPECT_TRUE(all.take("keys-1/2", kEvent)->has_value());
}

TEST(KafkaBoardTest, EachKindIsCountedByTheShardsThatDecideIt) {
  Board all = board();
  for (const ShardId shard : shards_of(kBoardCounts)) {
    ShardTally one = tally(shard, 5);
    one.stream.txns = 10;
    one.stream.counts[kConflict] = 1;
    one.operations = shard.kind == ShardKind::Sessions ? 40 : 0;
    ASSERT_TRUE(all.take(name(shard), message_of(one)).ok());
  }
  all.measure(0, 0, {5, 5, 5, 5, 5}, kNow);
  const auto vitals = all.vitals(When::Finished, kNow);
  EXPECT_EQ(vitals.stream.counts[kConflict], 2u);
  EXPECT_EQ(vitals.stream.txns, 10u);
  EXPECT_EQ(vitals.stream.operations, 40u);
  EXPECT_EQ(vitals.outcome(), Outcome::Violated);
}

TEST(KafkaBoardTest, AnOlderTallyChangesNothing) {
  Board all = board();
  ShardTally one = tally({ShardKind::Keys, 1}, 9);
  one.stream.counts[kConflict] = 3;
  ASSERT_TRUE(all.take("keys-1", message_of(one)).ok());
  ASSERT_TRUE(all.take("keys-1", message_of(tally({ShardKind::Keys, 1}, 8))).ok());
  EXPECT_EQ(all.vitals(When::Running, kNow).stream.counts[kConflict], 3u);
}

TEST(KafkaBoardTest, WhatIsNotCheckedLeavesTheVerdictUndecided) {
  Board all = board();
  all.measure(0, 0, {0, 0, 0, 0, 0}, kNow);
  EXPECT_TRUE(all.caught_up());
  EXPECT_EQ(all.vitals(When::Finished, kNow).outcome(), Outcome::Holds);
  all.measure(0, 0, {3, 0, 0, 0, 0}, kNow);
  EXPECT_FALSE(all.caught_up());
  EXPECT_EQ(all.vitals(When::Finished, kNow).outcome(), Outcome::Undecided);
  EXPECT_EQ(all.vitals(When::Running, kNow).outcome(), Outcome::Holds);
  const auto later = kNow + Board::kPatience;
  all.measure(0, 0, {4, 0, 0, 0, 0}, later);
  EXPECT_EQ(all.vitals(When::Running, later).outcome(), Outcome::Undecided);
  ASSERT_TRUE(all.take("keys-1", message_of(tally({ShardKind::Keys, 1}, 3))).ok());
  EXPECT_TRUE(all.caught_up());  // With what there was at first.
  EXPECT_EQ(all.vitals(When::Running, later).outcome(), Outcome::Holds);
  all.measure(7, 9, {3, 0, 0, 0, 0}, later);
  EXPECT_EQ(all.vitals(When::Finished, later).outcome(), Outcome::Undecided);
  all.measure(9, 11, {3, 0, 0, 0, 0}, later + Board::kPatience);
  EXPECT_EQ(all.vitals(When::Running, later + Board::kPatience).outcome(), Outcome::Holds);
  all.lose_measure();
  EXPECT_EQ(all.vitals(When::Finished, later).outcome(), Outcome::Undecided);
}

TEST(KafkaBoardTest, NobodyKnowsHowMuchThereIs) {
  EXPECT_EQ(board().vitals(When::Finished, kNow).outcome(), Outcome::Undecided);
}

TEST(KafkaBoardTest, VerdictsOfAnotherGroupAreRefused) {
  Board all = board();
  EXPECT_FALSE(all.take("keys-3", "{}").ok());
  EXPECT_FALSE(all.take("keys-1", "{}").ok());
  EXPECT_FALSE(all.take("keys-1/0", kEvent).ok());
  EXPECT_FALSE(all.take("keys-1/1", "{}").ok());
  ShardTally one = tally({ShardKind::Keys, 1}, 4);
  one.counts.keys = 5;
  EXPECT_FALSE(all.take("keys-1", message_of(one)).ok());
  one.counts.keys = 2;
  one.level = Level::Serializable;
  EXPECT_FALSE(all.take("keys-1", message_of(one)).ok());
}

}  // namespace
}  // namespace ouro::kafka
