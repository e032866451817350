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
  // How far the topic of transactions was projected, in messages, and how far it goes; and where
  // each partition of the topic of shards ended then or later.
  void measure(std::int64_t projected, std::int64_t raw_end, const std::vector<std::int64_t>& ends,
               Time now);
  // Whether all that was there when it was measured first is checked. REQUIRES: measure() was
  // called.
  [[nodiscard]] bool caught_up() const;

  // That cannot be found out.
  void lose_measure() { measured_ = false; }

  // What all shards say together. The verdict is undecided where what was there kPatience ago is
  // not checked yet; when all is finished, where what was there at the last measure is not.
  enum class When : std::uint8_t { Running, Finished };
  [[nodiscard]] serving::Vitals vitals(When when, Time now) const;

 private:
  // Somebody runs after an end that moves.
  struct Race {
    std::int64_t end = 0;      // When it was measured last.
    std::int64_t reached = 0;  // Likewise.
    std::int64_t goal = 0;     // Some earlier end, which is not reached yet,
    Time since = {};           // and when that was measured.
    [[nodiscard]] bool behind() const { return reached < goal; }
    void go_on(std::int64_t reached_now, std::int64_t end_now, Time now);
  };
  struct Shard {
    ShardId id;
    ShardTally tally;
    std::uint64_t told = 0;  // Events taken.
    Race race = {};          // To the end of its partition.
  };
  [[nodiscard]] static bool too_late(const Race& race, When when, Time now);
  void add(serving::Vitals& vitals, const Shard& shard) const;

  const ShardCounts counts_;
  const Level level_;
  std::vector<Shard> shards_;  // By partition.
  Race projectors_;
  bool measured_ = false;
};

// What `tally` says, but for what other kinds of shards decide about.
[[nodiscard]] StreamSummary decided_by(const ShardTally& tally);

}  // namespace ouro::kafka
