// When one transaction comes before another by the clocks of the clients.
//
// T1 comes before T2 if T1 completed more than the drift before T2 was invoked; the drift is by how
// much two clocks may differ. Clocks may be any 64-bit numbers, so clock - drift and clock + drift
// may overflow. All code that compares clocks asks here, except certify/.
//
// REQUIRES, of all functions here: drift >= 0.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// The error is a drift that is negative.
[[nodiscard]] Status check_clock_drift(std::int64_t drift);

// Whether a transaction that completed at `completed` comes before one that was invoked at
// `invoked`.
[[nodiscard]] constexpr bool completed_before(std::int64_t completed, std::int64_t invoked,
                                              std::int64_t drift) {
  const auto between = static_cast<std::uint64_t>(invoked) - static_cast<std::uint64_t>(completed);
  return completed < invoked && between > static_cast<std::uint64_t>(drift);
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

// What is known of when a transaction begins and commits: it begins between `invoked` and
// begun_by(), and commits between commit_asked() and `completed`. Where a client did not record
// when the begin was answered or the commit asked for, both lie between `invoked` and `completed`.
[[nodiscard]] inline std::optional<std::int64_t> begun_by(const History& history, TxnId txn) {
  const auto began = history.began(txn);
  return began ? began : history.completed(txn);
}
[[nodiscard]] inline std::optional<std::int64_t> commit_asked(const History& history, TxnId txn) {
  const auto committing = history.committing(txn);
  return committing ? committing : history.invoked(txn);
}

// The clocks of a transaction in the order in which they must be; kNoClock for those missing.
using TxnClocks = std::array<std::int64_t, 4>;  // invoked, began, committing, completed

// What is wrong with the order of these clocks, as part of an error message: "completed at 3,
// before it was invoked at 5". Empty if nothing is.
[[nodiscard]] std::string clock_disorder(const TxnClocks& clocks);

// A transaction whose clocks are not in order, and what is wrong. Such a history is refused.
struct ClockDisorder {
  std::size_t txn = 0;
  std::string what;
};
// The first one of a history with these columns, each of which may be empty.
[[nodiscard]] std::optional<ClockDisorder> first_clock_disorder(
    const std::array<std::span<const std::int64_t>, 4>& columns);

}  // namespace ouro
