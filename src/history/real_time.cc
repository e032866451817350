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

std::optional<std::size_t> first_inverted(std::span<const std::int64_t> invoked,
                                          std::span<const std::int64_t> completed) {
  // kNoClock is the least number, so a missing invocation is never greater than a completion.
  for (std::size_t t = 0; t < std::min(invoked.size(), completed.size()); ++t) {
    if (invoked[t] > completed[t] && completed[t] != kNoClock) return t;
  }
  return std::nullopt;
}

std::string inverted_clocks(std::int64_t invoked, std::int64_t completed) {
  return fmt::format("completed at {}, before it was invoked at {}", completed, invoked);
}

}  // namespace ouro
