#include "kafka/raw_projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ouro::kafka {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr ShardCounts kProjectedCounts{2, 1};
constexpr const char* kWrite = R"({"session":"a","start_ts":1,"commit_ts":5,"ops":[["w","x",1]]})";
constexpr const char* kRead = R"({"session":"b","start_ts":6,"commit_ts":6,"ops":[["r","x",1]]})";

RawProjection projection() { return {kProjectedCounts, std::nullopt, "raw"}; }

// All that shards of this name were told.
std::string text_of(const std::vector<ShardPart>& parts, const std::string& shard) {
  std::string text;
  for (const ShardPart& part : parts) {
    if (name(part.shard) == shard) text += part.text;
  }
  return text;
}

std::size_t missing_in(const std::vector<ShardPart>& parts) {
  std::size_t count = 0;
  for (const ShardPart& part : parts) count += part.missing.empty() ? 0 : 1;
  return count;
}

TEST(KafkaProjectionTest, ATransactionIsCalledByThePlaceOfItsMessage) {
  const std::string two = std::string(kWrite) + '\n' + kRead + '\n';
  const std::vector<RawMessage> messages = {{17, kWrite}, {19, two}, {20, kRead}};
  const auto parts = projection().project(3, messages);
  const std::string sessions = text_of(parts, "sessions-1");
  for (const char* id : {"\"#3.17\"", "\"#3.19\"", "\"#3.19.2\"", "\"#3.20\""}) {
    EXPECT_THAT(sessions, HasSubstr(id));
  }
  EXPECT_EQ(missing_in(parts), 0u);
}

TEST(KafkaProjectionTest, HowMessagesComeTogetherDoesNotMatter) {
  const std::vector<RawMessage> messages = {{1, kWrite}, {2, kRead}, {5, kRead}};
  const auto all = projection().project(0, messages);
  std::vector<ShardPart> single;
  for (const RawMessage& message : messages) {
    for (ShardPart& part : projection().project(0, {&message, 1})) {
      single.push_back(std::move(part));
    }
  }
  const std::string header = "{\"ouro\":1,\"initial\":null}\n";
  for (const ShardId shard : shards_of(kProjectedCounts)) {
    const auto without_headers = [&](const std::vector<ShardPart>& parts) {
      std::string text = text_of(parts, name(shard));
      for (auto at = text.find(header); at != text.npos; at = text.find(header)) {
        text.erase(at, header.size());
      }
      return text;
    };
    EXPECT_EQ(without_headers(all), without_headers(single)) << name(shard);
  }
}

TEST(KafkaProjectionTest, ABadMessageIsMissingInAllShardsAndTheOthersCount) {
  const std::vector<RawMessage> messages = {{1, kWrite}, {2, "{\"session\":"}, {3, kRead}};
  const auto parts = projection().project(0, messages);
  EXPECT_EQ(missing_in(parts), shards_of(kProjectedCounts).size());
  const auto bad = std::find_if(parts.begin(), parts.end(),
                                [](const ShardPart& part) { return !part.missing.empty(); });
  EXPECT_THAT(bad->missing, HasSubstr("raw, partition 0, offset 2: "));
  EXPECT_THAT(text_of(parts, "sessions-1"), HasSubstr("\"#0.1\""));
  EXPECT_THAT(text_of(parts, "sessions-1"), HasSubstr("\"#0.3\""));
}

TEST(KafkaProjectionTest, WhatCannotBeProjectedIsMissing) {
  for (const char* text :
       {R"({"session":"a","id":"#0.7","start_ts":1,"commit_ts":5,"ops":[["w","x",1]]})",
        R"({"session":"a","start_ts":1,"commit_ts":5,"ops":[["w","(elsewhere) 1",1]]})",
        R"({"session":"a","start_ts":1,"commit_ts":5,"ops":[["inc","x",1]]})",
        R"({"key":"x","versions":[1],"complete":true})", R"({"ouro":1,"initial":5})"}) {
    const RawMessage message{4, text};
    EXPECT_EQ(missing_in(projection().project(0, {&message, 1})),
              shards_of(kProjectedCounts).size())
        << text;
  }
}

// Nobody else is needed to know what a message means: its shards are told again, and the same.
TEST(KafkaProjectionTest, OperationsOfTheWholeAreCountedWithTheSessions) {
  const std::string operations_of_three = R"(["w","x",1],["r","y",2],["w","z",1])";
  const std::string line =
      R"({"session":"a","start_ts":1,"commit_ts":5,"ops":[)" + operations_of_three + "]}";
  const RawMessage message{4, line};
  std::uint64_t operations = 0;
  for (const ShardPart& part : projection().project(0, {&message, 1})) {
    operations += part.operations;
    EXPECT_TRUE(part.operations == 0 || part.shard.kind == ShardKind::Sessions);
    EXPECT_NE(part.shard.kind, ShardKind::Clocks);
  }
  EXPECT_EQ(operations, 3u);
}

}  // namespace
}  // namespace ouro::kafka
