#include "certify/differences.h"

#include <algorithm>
#include <limits>

namespace ouro::recheck {

Differences::Differences(std::vector<std::uint32_t> times)
    : count_(static_cast<std::uint32_t>(times.size())) {
  while (leaves_ < count_) leaves_ *= 2;
  least_.assign(2 * std::size_t{leaves_}, std::numeric_limits<std::uint32_t>::max());
  greatest_.assign(2 * std::size_t{leaves_}, 0);
  std::copy(times.begin(), times.end(), least_.begin() + leaves_);
  std::copy(times.begin(), times.end(), greatest_.begin() + leaves_);
  for (std::uint32_t node = leaves_; node-- > 1;) {
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
    greatest_[node] = std::max(greatest_[2 * node], greatest_[2 * node + 1]);
  }
}

bool Differences::find(std::uint32_t place, std::uint32_t time, std::size_t most,
                       std::vector<std::uint32_t>& out) const {
  struct Open {
    std::uint32_t node;
    std::uint32_t first;
    std::uint32_t end;
  };
  std::vector<Open> open = {{1, 0, leaves_}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    const bool late = at.first < place && greatest_[at.node] >= time;
    const bool early = at.end > place && least_[at.node] < time;
    if ((!late && !early) || at.first >= count_) continue;
    if (at.end - at.first == 1) {
      if (out.size() == most) return false;
      out.push_back(at.first);
      continue;
    }
    const std::uint32_t middle = at.first + (at.end - at.first) / 2;
    open.push_back({2 * at.node + 1, middle, at.end});
    open.push_back({2 * at.node, at.first, middle});
  }
  return true;
}

}  // namespace ouro::recheck
