// The store's own clock: gives each begin and each commit a position of its own.
//
// Every begin or commit is an event and owns kTicks positions. A commit takes the last position of
// its event; the one before is left for a snapshot "immediately before the commit". A begin takes
// an even position early in its event; if it is to read from the past, in one of the kMaxLag events
// before. The odd position behind it is left for a commit "at the snapshot".
//
// All positions handed out are different: begins that get a position in one event happened within
// kMaxLag + 1 events of it, so there are at most that many, and each has a slot of its own.
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

  // Draws how many events ago a snapshot is taken: at most kMaxLag, on average 3.
  static std::int64_t draw_lag(Random& random) {
    std::int64_t lag = 0;
    while (lag < kMaxLag && random.below(4) != 0) ++lag;
    return lag;
  }

  // The position of a begin that reads a snapshot of `lag` events ago, but after the position
  // `floor`. REQUIRES: lag <= kMaxLag; `floor` is 0 or was handed out in an earlier event.
  Position begin(std::int64_t lag, Position floor) {
    const std::int64_t slot = begins_++ % (kMaxLag + 1);
    ++event_;
    const std::int64_t after_floor = floor / kTicks + 1;
    const std::int64_t event = std::max({event_ - lag, after_floor, std::int64_t{1}});
    return event * kTicks + 2 * slot;
  }
  Position commit() { return ++event_ * kTicks + kTicks - 1; }
  // A position after all that was committed so far.
  [[nodiscard]] Position now() const { return (event_ + 1) * kTicks; }

 private:
  std::int64_t event_ = 0;
  std::int64_t begins_ = 0;
};

}  // namespace ouro::workload
