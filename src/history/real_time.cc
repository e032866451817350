#include "history/real_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "ouro/history.h"

namespace ouro {

Status check_clock_drift(std::int64_t drift) {
  if (drift >= 0) return {};
  Error error;
  error.what = fmt::format(
      "clock_drift is {}, but it is by how much clocks differ; give a number that is not negative",
      drift);
  return error;
}

std::string clock_disorder(const TxnClocks& clocks) {
  constexpr std::array<std::string_view, 4> kDid{"", "began", "asked for its commit", "completed"};
  constexpr std::array<std::string_view, 4> kBefore{"was invoked", "began", "asked for its commit",
                                                    ""};
  std::size_t last = 0;  // The last one so far that is known, or else the first.
  for (std::size_t i = 1; i < clocks.size(); ++i) {
    if (clocks[i] == kNoClock) continue;
    // kNoClock is the least number, so a missing clock is never greater than another.
    if (clocks[i] < clocks[last]) {
      return fmt::format("{} at {}, before it {} at {}", kDid[i], clocks[i], kBefore[last],
                         clocks[last]);
    }
    last = i;
  }
  return {};
}

std::optional<ClockDisorder> first_clock_disorder(
    const std::array<std::span<const std::int64_t>, 4>& columns) {
  std::size_t txns = 0;
  std::size_t known = 0;
  for (const auto& column : columns) {
    txns = std::max(txns, column.size());
    if (!column.empty()) ++known;
  }
  if (known < 2) return std::nullopt;
  for (std::size_t t = 0; t < txns; ++t) {
    TxnClocks clocks{};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      clocks[i] = t < columns[i].size() ? columns[i][t] : kNoClock;
    }
    if (std::string what = clock_disorder(clocks); !what.empty()) return ClockDisorder{t, what};
  }
  return std::nullopt;
}

}  // namespace ouro
