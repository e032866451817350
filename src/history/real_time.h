// When one transaction comes before another by the clocks of the clients.
//
// A transaction that completed before another was invoked, by more than the clocks may differ (the
// drift), comes before it. Clocks may be any 64-bit numbers, so neither clock - drift nor
// clock + drift need be one; whoever compares clocks asks here.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace ouro {

// Whether what completed at `completed` comes before what was invoked at `invoked`.
// REQUIRES: drift >= 0, here and below.
[[nodiscard]] constexpr bool completed_before(std::int64_t completed, std::int64_t invoked,
                                              std::int64_t drift) {
  return completed<invoked&& static_cast<std::uint64_t>(invoked) -
                   static_cast<std::uint64_t>(completed)> static_cast<std::uint64_t>(drift);
}

// The first clock at which somebody invoked comes behind what completed at `completed`. Nothing if
// there is no such clock.
[[nodiscard]] constexpr std::optional<std::int64_t> first_invoked_behind(std::int64_t completed,
                                                                         std::int64_t drift) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  if (!completed_before(completed, kLast, drift)) return std::nullopt;
  return completed + drift + 1;
}

// The last clock at which somebody completed comes before what was invoked at `invoked`. Nothing if
// there is no such clock.
[[nodiscard]] constexpr std::optional<std::int64_t> last_completed_before(std::int64_t invoked,
                                                                          std::int64_t drift) {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  if (!completed_before(kFirst, invoked, drift)) return std::nullopt;
  return invoked - drift - 1;
}

// The number of the first transaction that completed before it was invoked, which no transaction
// does: such a history is refused. The columns are those of a history, either may be empty.
[[nodiscard]] std::optional<std::size_t> first_inverted(std::span<const std::int64_t> invoked,
                                                        std::span<const std::int64_t> completed);
// What to say of it.
[[nodiscard]] std::string inverted_clocks(std::int64_t invoked, std::int64_t completed);

}  // namespace ouro
