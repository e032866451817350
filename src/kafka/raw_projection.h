// From messages of a topic of transactions to parts of shards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/message.h"
#include "ouro/history.h"
#include "ouro/shard.h"
#include "serve/parse_batch.h"

namespace ouro::kafka {

// A message with native text of one or several transactions.
struct RawMessage {
  std::int64_t offset = 0;
  std::string_view text;
};

class RawProjection {
 public:
  // `topic` is told where something is wrong.
  RawProjection(ShardCounts counts, std::optional<std::int64_t> initial, std::string topic);

  // The parts of messages of one partition, in their order. What a transaction without an id is
  // called follows from where its message is: "#3.17" is in partition 3 at offset 17, and its
  // second line is "#3.17.2". A message that cannot be read or projected is missing in all shards,
  // which are told why. How messages are put together in calls changes how many parts there are,
  // and nothing else.
  [[nodiscard]] std::vector<ShardPart> project(std::int32_t partition,
                                               std::span<const RawMessage> messages) const;
  // Tells all shards that something is missing.
  [[nodiscard]] std::vector<ShardPart> missing(const std::string& why) const;

  // The most bytes of a message; what is larger is missing.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

 private:
  [[nodiscard]] Result<std::vector<ShardPart>> try_all(std::int32_t partition,
                                                       std::span<const RawMessage> messages) const;
  [[nodiscard]] Result<std::vector<ShardPart>> parts_of(const History& piece,
                                                        std::span<const std::string> places) const;

  const ShardCounts counts_;
  const serving::BatchRules rules_;
  const std::string topic_;
};

}  // namespace ouro::kafka
