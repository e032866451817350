// What the messages say that projectors, checkers and mergers send each other. docs/scale.md has
// the topics.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/level.h"
#include "ouro/result.h"
#include "ouro/shard.h"
#include "ouro/stream.h"
#include "serve/doubt.h"

namespace ouro::kafka {

// All shards, in the order of their partitions.
[[nodiscard]] std::vector<ShardId> shards_of(ShardCounts counts);
[[nodiscard]] std::optional<std::uint32_t> partition_of(ShardCounts counts, std::string_view shard);

// In the topic of shards: a part of a shard. Its first line is an object with all but the
// transactions; the others are native text.
//
//   {"ouro-part":"keys-1","keys":2,"sessions":2,"from":0,"of":3,"time":1794812683990}
//   {"ouro":1,"initial":null}
//   {"session":"a","id":"#0.17","start_ts":1,"commit_ts":5,"ops":[["w","x",1]]}
struct ShardPart {
  ShardId shard;
  ShardCounts counts;
  std::uint64_t operations = 0;  // Of shards of sessions: in the whole of the transactions.
  std::string missing;           // What is missing before this part; empty: nothing.
  std::string text = {};         // The transactions as native text; may be empty.
  // With this part, one of the partitions of the topic of transactions was read up to this time; no
  // time: nothing is said about that.
  struct Clock {
    std::uint32_t partition = 0;
    std::uint32_t partitions = 1;  // How many there are.
    std::int64_t time_ms = 0;      // Since 1970.
  };
  std::optional<Clock> clock = {};
};
[[nodiscard]] std::string message_of(const ShardPart& part);
[[nodiscard]] Result<ShardPart> parse_part(std::string_view message);

// In the topic of verdicts, under the name of the shard: what was found in it so far.
struct ShardTally {
  ShardId shard;
  ShardCounts counts;
  Level level = Level::SessionSi;
  std::int64_t offset = 0;              // All before it in the partition of the shard is checked.
  std::uint64_t events = 0;             // How many events were told so far.
  std::uint64_t operations = 0;         // Sum of ShardPart::operations.
  std::array<std::uint64_t, 3> txns{};  // Transactions taken, by TxnStatus.
  double lag_seconds = 0;               // From arrival to verdict.
  serving::Doubt doubt = {};
  StreamSummary stream = {};
};
[[nodiscard]] std::string message_of(const ShardTally& tally);
[[nodiscard]] Result<ShardTally> parse_tally(std::string_view message);

// In the topic of states, as "manifest": what belongs to the state of a shard, besides the files
// of its stream, which are there in chunks, as "NAME/0", "NAME/1" …
struct TopicManifest {
  ShardId shard;
  ShardCounts counts;
  std::int64_t offset = 0;  // Where to go on in the partition of the shard.
  std::uint64_t events = 0;
  std::uint64_t operations = 0;
  std::array<std::uint64_t, 3> txns{};
  serving::Doubt doubt = {};
  // For each partition of the topic of transactions: the time up to which it was read.
  std::vector<std::int64_t> times_ms = {};
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    constexpr auto operator<=>(const File&) const = default;
  };
  std::vector<File> files = {};  // The checkpoint is the first.
};
[[nodiscard]] std::string message_of(const TopicManifest& manifest);
[[nodiscard]] Result<TopicManifest> parse_manifest(std::string_view message);

}  // namespace ouro::kafka
