#include "kafka/message.h"

#include <gtest/gtest.h>

namespace ouro::kafka {
namespace {

const ShardId kKeys2{ShardKind::Keys, 2};
const ShardCounts kMessageCounts{3, 2};

TEST(KafkaMessageTest, EachShardHasAPartition) {
  const auto all = shards_of(kMessageCounts);
  ASSERT_EQ(all.size(), 7u);
  for (std::uint32_t p = 0; p < all.size(); ++p)
    EXPECT_EQ(partition_of(kMessageCounts, name(all[p])), p);
  EXPECT_EQ(partition_of(kMessageCounts, "keys-4"), std::nullopt);
  EXPECT_EQ(partition_of(kMessageCounts, "manifest"), std::nullopt);
}

TEST(KafkaMessageTest, APartIsReadAsItWasPrinted) {
  const ShardPart part{.shard = kKeys2,
                       .counts = kMessageCounts,
                       .operations = 7,
                       .missing = "raw, partition 0, offset 3: \"what\"",
                       .text = "{\"session\":\"a\"}\n{\"session\":\"b\"}\n",
                       .clock = ShardPart::Clock{2, 3, 1794812683990}};
  const auto read = parse_part(message_of(part));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->shard, part.shard);
  EXPECT_EQ(read->counts.keys, 3u);
  EXPECT_EQ(read->counts.sessions, 2u);
  EXPECT_EQ(read->operations, 7u);
  EXPECT_EQ(read->missing, part.missing);
  EXPECT_EQ(read->clock->partition, 2u);
  EXPECT_EQ(read->clock->partitions, 3u);
  EXPECT_EQ(read->clock->time_ms, 1794812683990);
  EXPECT_EQ(read->text, part.text);
}

TEST(KafkaMessageTest, WhatIsNoPartIsRefused) {
  for (const char* text :
       {"", "\n", "{}", "[]", "{\"session\":\"a\"}\n", "{\"ouro-part\":\"keys-9\"}",
        "{\"ouro-part\":\"keys-9\",\"keys\":3,\"sessions\":2}",
        "{\"ouro-part\":\"keys-1\",\"keys\":0,\"sessions\":2}",
        "{\"ouro-part\":\"keys-1\",\"keys\":3,\"sessions\":2000}",
        "{\"ouro-part\":\"keys-1\",\"keys\":3,\"sessions\":2,\"operations\":-1}",
        "{\"ouro-part\":\"keys-1\",\"keys\":3,\"sessions\":2,\"from\":3,\"of\":3,\"time\":1}"}) {
    EXPECT_FALSE(parse_part(text).ok()) << text;
  }
}

TEST(KafkaMessageTest, ATallyIsReadAsItWasPrinted) {
  ShardTally tally{.shard = kKeys2, .counts = kMessageCounts, .level = Level::Serializable};
  tally.offset = 12;
  tally.events = 3;
  tally.operations = 9;
  tally.txns = {4, 5, 6};
  tally.lag_seconds = 0.25;
  tally.doubt = {
      .number = 2, .scope = serving::Doubt::Scope::Reads, .reason = "a line", .at = StreamTime(77)};
  tally.stream.txns = 4;
  tally.stream.window_txns = 1;
  tally.stream.provisional = 1;
  tally.stream.counts[2] = 8;
  tally.stream.provisional_counts[2] = 1;
  const auto read = parse_tally(message_of(tally));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(message_of(*read), message_of(tally));
  EXPECT_EQ(read->level, tally.level);
  EXPECT_EQ(read->stream.counts, tally.stream.counts);
  EXPECT_EQ(read->doubt.scope, tally.doubt.scope);
}

TEST(KafkaMessageTest, AManifestIsReadAsItWasPrinted) {
  const TopicManifest manifest{.shard = kKeys2,
                               .counts = kMessageCounts,
                               .offset = 99,
                               .events = 4,
                               .operations = 5,
                               .txns = {1, 2, 3},
                               .times_ms = {7, 8},
                               .files = {{"checkpoint", 1000}, {"spill/1", 20}}};
  const auto read = parse_manifest(message_of(manifest));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(message_of(*read), message_of(manifest));
  EXPECT_EQ(read->files, manifest.files);
  EXPECT_EQ(read->times_ms, manifest.times_ms);
  EXPECT_FALSE(
      parse_manifest(message_of(TopicManifest{.shard = kKeys2, .counts = kMessageCounts})).ok());
}

}  // namespace
}  // namespace ouro::kafka
