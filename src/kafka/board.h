// What was found in all shards, put together: what a merger shows.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/message.h"
#include "ouro/result.h"
#include "ouro/shard.h"
#include "serve/event_text.h"
#include "serve/monitor.h"

namespace ouro::kafka {

class Board {
 public:
  // How long what is behind may stay so before the verdict says that it is.
  static constexpr std::chrono::seconds kPatience{10};
  using Time = std::chrono::steady_clock::time_point;

  Board(ShardCounts counts, Level level);

  // Takes a record of the topic of verdicts. Returns an event that is to be shown; nothing if it is
  // none, or was taken before. The error is that of other counts of shards, or another level.
  [[nodiscard]] Result<std::optional<serving::EventText>> take(std::string_view name,
                                                               const std::string& content);
  // How many messages of the topic of transactions are not projected yet, and where each partition
  // of the topic of shards ended then or later.
  void measure(std::uint64_t not_projected, const std::vector<std::int64_t>& ends, Time now);

  // That cannot be found out.
  void lose_measure() { measured_ = false; }

  // What all shards say together. A shard that has something and has not caught up for kPatience,
  // or for an instant if `finished`, leaves the verdict undecided.
  enum class When : std::uint8_t { Running, Finished };
  [[nodiscard]] serving::Vitals vitals(When when, Time now) const;

 private:
  struct Shard {
    ShardId id;
    ShardTally tally;
    std::uint64_t told = 0;    // Events taken.
    std::int64_t end = 0;      // Of its partition, when that was measured last.
    std::optional<Time> late;  // Since when it has been behind.
  };
  void add(serving::Vitals& vitals, const Shard& shard) const;

  const ShardCounts counts_;
  const Level level_;
  std::vector<Shard> shards_;  // By partition.
  std::uint64_t not_projected_ = 0;
  bool measured_ = false;
  std::optional<Time> late_;  // Since when the projectors have been behind.
};

// What `tally` says, but for what other kinds of shards decide about.
[[nodiscard]] StreamSummary decided_by(const ShardTally& tally);

}  // namespace ouro::kafka
