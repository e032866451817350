#include "kafka/shard_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace ouro::kafka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ShardCounts kCheckedCounts{2, 1};
constexpr const char* kFirst =
    R"({"session":"a","id":"#0.1","start_ts":1,"commit_ts":5,"ops":[["w","x",1]]})";
constexpr const char* kSecond =
    R"({"session":"b","id":"#0.2","start_ts":2,"commit_ts":6,"ops":[["w","x",2]]})";
constexpr const char* kStale =
    R"({"session":"c","id":"#0.3","start_ts":9,"commit_ts":9,"ops":[["r","x",7]]})";

// A shard of keys, with folders that are as new for each owner.
class KafkaShardCheckTest : public testing::Test {
 protected:
  ShardCheck open(ShardId shard = {ShardKind::Keys, 1}) {
    folders_.push_back(*TemporaryFolder::make("kafka-test-"));
    auto check = ShardCheck::open({.shard = shard,
                                   .counts = kCheckedCounts,
                                   .stream = {.timeout = std::chrono::seconds(1)},
                                   .folder = folders_.back().path()},
                                  records_);
    EXPECT_TRUE(check.ok()) << check.error().to_string();
    return *std::move(check);
  }
  static std::string part(const std::string& text, ShardId shard = {ShardKind::Keys, 1}) {
    return message_of(
        ShardPart{.shard = shard, .counts = kCheckedCounts, .missing = {}, .text = text});
  }
  // One of two partitions was read up to so many seconds.
  static std::string clock(std::uint32_t partition, std::int64_t seconds) {
    return message_of(ShardPart{.shard = {ShardKind::Keys, 1},
                                .counts = kCheckedCounts,
                                .missing = {},
                                .clock = ShardPart::Clock{partition, 2, seconds * 1000}});
  }
  static std::string missing(const std::string& why, ShardId shard = {ShardKind::Keys, 1}) {
    return message_of(ShardPart{.shard = shard, .counts = kCheckedCounts, .missing = why});
  }
  Status save(ShardCheck& check, std::int64_t offset) {
    return check.save(offset, [&](const std::string& name, std::optional<std::string_view> text) {
      records_.erase(name);
      if (text) records_.emplace(name, *text);
      return Status();
    });
  }

  StateRecords records_;
  std::vector<TemporaryFolder> folders_;
};

std::vector<std::uint64_t> numbers(const std::vector<ToldEvent>& events) {
  std::vector<std::uint64_t> out;
  for (const ToldEvent& event : events) out.push_back(event.number);
  return out;
}

TEST_F(KafkaShardCheckTest, ItGoesOnWhereItWasSaved) {
  ShardCheck first = open();
  ASSERT_TRUE(first.take(part(kFirst)).ok());
  EXPECT_THAT(first.poll(), IsEmpty());
  ASSERT_TRUE(save(first, 41).ok());
  ASSERT_TRUE(first.take(part(kSecond)).ok());
  const auto told = first.poll();
  EXPECT_THAT(numbers(told), ElementsAre(1));
  ShardCheck second = open();
  EXPECT_EQ(second.begin(), 41);
  ASSERT_TRUE(second.take(part(kSecond)).ok());
  const auto again = second.poll();
  ASSERT_THAT(numbers(again), ElementsAre(1));
  EXPECT_EQ(again[0].line, told[0].line);
  EXPECT_THAT(told[0].line, HasSubstr("\"source\":\"keys-1\""));
  EXPECT_EQ(message_of(second.tally()), message_of(first.tally()));
}

TEST_F(KafkaShardCheckTest, TimePassesByMessagesAlone) {
  ShardCheck check = open();
  ASSERT_TRUE(check.take(part(kStale)).ok());
  ASSERT_TRUE(check.take(clock(0, 10)).ok());
  ASSERT_TRUE(check.take(clock(1, 10)).ok());
  ASSERT_TRUE(check.take(part(kStale)).ok());
  ASSERT_TRUE(check.take(clock(0, 100)).ok());  // Nobody knows what else the other one has.
  EXPECT_EQ(check.clock(), std::chrono::seconds(10));
  EXPECT_EQ(check.tally().stream.window_txns, 1u);
  ASSERT_TRUE(check.take(clock(1, 11)).ok());
  EXPECT_EQ(check.tally().stream.window_txns, 0u);
  EXPECT_EQ(check.poll().size(), 2u);
}

TEST_F(KafkaShardCheckTest, OtherKindsOfShardsTellWhatTheyDecide) {
  const ShardId sessions{ShardKind::Sessions, 1};
  ShardCheck check = open(sessions);
  ASSERT_TRUE(check.take(part(kFirst, sessions)).ok());
  ASSERT_TRUE(check.take(part(kSecond, sessions)).ok());
  EXPECT_THAT(check.poll(), IsEmpty());  // The write conflict is for a shard of keys to tell.
}

TEST_F(KafkaShardCheckTest, WhereInputIsMissingReadsAreUndecidedAlsoAfterARestart) {
  ShardCheck first = open();
  ASSERT_TRUE(first.take(missing("raw, partition 0, offset 1: what")).ok());
  const auto told = first.poll();
  ASSERT_THAT(numbers(told), ElementsAre(1));
  EXPECT_THAT(told[0].line, HasSubstr("\"kind\":\"input-fault\""));
  ASSERT_TRUE(save(first, 1).ok());
  ShardCheck second = open();
  ASSERT_TRUE(second.take(part(kStale)).ok());
  ASSERT_TRUE(second.take(clock(0, 5)).ok());
  ASSERT_TRUE(second.take(clock(1, 5)).ok());
  ASSERT_TRUE(second.take(clock(1, 9)).ok());
  ASSERT_TRUE(second.take(clock(0, 9)).ok());
  const auto events = second.poll();
  ASSERT_THAT(numbers(events), ElementsAre(2));
  EXPECT_THAT(events[0].line, HasSubstr("\"kind\":\"undecided\""));
  const ShardTally tally = second.tally();
  EXPECT_EQ(tally.stream.undecided, 1u);
  EXPECT_EQ(tally.doubt.reason, "raw, partition 0, offset 1: what");
}

TEST_F(KafkaShardCheckTest, OneShardTellsWhatIsMissingInAll) {
  const ShardId other{ShardKind::Keys, 2};
  ShardCheck check = open(other);
  ASSERT_TRUE(check.take(missing("what", other)).ok());
  EXPECT_THAT(check.poll(), IsEmpty());
  EXPECT_EQ(check.tally().doubt.reason, "what");
}

TEST_F(KafkaShardCheckTest, WhatTheCheckCannotTakeIsMissingHere) {
  const ShardId other{ShardKind::Keys, 2};
  ShardCheck check = open(other);
  ASSERT_TRUE(check.take(part(kFirst, other)).ok());
  const std::string list =
      R"({"session":"a","id":"#0.1","start_ts":7,"commit_ts":8,"ops":[["append","x",1]]})";
  ASSERT_TRUE(check.take(part(list, other)).ok());
  EXPECT_THAT(numbers(check.poll()), ElementsAre(1));
  EXPECT_THAT(check.tally().doubt.reason, HasSubstr("keys-2: "));
}

TEST_F(KafkaShardCheckTest, MessagesOfOthersAreRefused) {
  ShardCheck check = open();
  EXPECT_FALSE(check.take("what").ok());
  EXPECT_FALSE(check.take(part(kFirst, {ShardKind::Keys, 2})).ok());
  ShardPart of_others{.shard = {ShardKind::Keys, 1}, .counts = {7, 1}, .missing = {}};
  const Status refused = check.take(message_of(of_others));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("--keys"));
}

TEST_F(KafkaShardCheckTest, AStateThatLacksAPartIsRefused) {
  ShardCheck check = open();
  ASSERT_TRUE(save(check, 3).ok());
  records_.erase("checkpoint/0");
  const TemporaryFolder folder = *TemporaryFolder::make("kafka-test-");
  const auto opened = ShardCheck::open({.shard = {ShardKind::Keys, 1},
                                        .counts = kCheckedCounts,
                                        .stream = {.timeout = std::chrono::seconds(1)},
                                        .folder = folder.path()},
                                       records_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().what, HasSubstr("lacks a part of checkpoint"));
}

}  // namespace
}  // namespace ouro::kafka
