// When one transaction comes before another by the clocks of the clients.
//
// T1 comes before T2 if T1 completed more than the drift before T2 was invoked; the drift is by how
// much two clocks may differ. Clocks may be any 64-bit numbers, so clock - drift and clock + drift
// may overflow. All code that compares clocks asks here, except certify/.
//
// REQUIRES, of all functions here: drift >= 0.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "ouro/result.h"

namespace ouro {

// The error is a drift that is negative.
[[nodiscard]] Status check_clock_drift(std::int64_t drift);

// Whether a transaction that completed at `completed` comes before one that was invoked at
// `invoked`.
[[nodiscard]] constexpr bool completed_before(std::int64_t completed, std::int64_t invoked,
                                              std::int64_t drift) {
  return completed<invoked&& static_cast<std::uint64_t>(invoked) -
                   static_cast<std::uint64_t>(completed)> static_cast<std::uint64_t>(drift);
}

// The least `invoked` for which completed_before(completed, invoked, drift); nothing if there is
// none.
[[nodiscard]] constexpr std::optional<std::int64_t> first_invoked_behind(std::int64_t completed,
                                                                         std::int64_t drift) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  if (!completed_before(completed, kLast, drift)) return std::nullopt;
  return completed + drift + 1;
}

// The greatest `completed` for which completed_before(completed, invoked, drift); nothing if there
// is none.
[[nodiscard]] constexpr std::optional<std::int64_t> last_completed_before(std::int64_t invoked,
                                                                          std::int64_t drift) {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  if (!completed_before(kFirst, invoked, drift)) return std::nullopt;
  return invoked - drift - 1;
}

// The number of the first transaction that completed before it was invoked; such a history is
// refused. The columns are those of a history; either may be empty.
[[nodiscard]] std::optional<std::size_t> first_inverted(std::span<const std::int64_t> invoked,
                                                        std::span<const std::int64_t> completed);
// Says so, as part of an error message: "completed at 3, before it was invoked at 5".
[[nodiscard]] std::string inverted_clocks(std::int64_t invoked, std::int64_t completed);

}  // namespace ouro
