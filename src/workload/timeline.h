// The store's own clock: gives each begin and each commit a place of its own on one line.
//
// Every begin or commit is an event and owns kTicks positions. A commit takes the last of its
// event's, and the one before is left for a snapshot "immediately before the commit". A begin
// takes an even position early in its event, or in one of up to kMaxLag events before it when it
// is to read from the past; the odd position behind it is left for a commit in the past.
//
// All positions handed out differ: begins that land in one event started within kMaxLag + 1 events
// of it, so there are at most that many, and each has its own slot.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/random.h"
#include "workload/versions.h"

namespace ouro::workload {

class Timeline {
 public:
  static constexpr Position kTicks = 128;
  static constexpr std::int64_t kMaxLag = 31;

  // How many events a reader lags behind: mostly a few, the mean is 3.
  static std::int64_t draw_lag(Random& random) {
    std::int64_t lag = 0;
    while (lag < kMaxLag && random.below(4) != 0) ++lag;
    return lag;
  }

  // A snapshot `lag` events ago, but after the position `floor`. REQUIRES: lag <= kMaxLag, and
  // `floor` was handed out in an earlier event.
  Position begin(std::int64_t lag, Position floor) {
    const std::int64_t slot = begins_++ % (kMaxLag + 1);
    ++event_;
    const std::int64_t after_floor = floor / kTicks + 1;
    const std::int64_t event = std::max({event_ - lag, after_floor, std::int64_t{1}});
    return event * kTicks + 2 * slot;
  }
  Position commit() { return ++event_ * kTicks + kTicks - 1; }
  // After everything that was committed so far.
  [[nodiscard]] Position now() const { return (event_ + 1) * kTicks; }

 private:
  std::int64_t event_ = 0;
  std::int64_t begins_ = 0;
};

}  // namespace ouro::workload
