#include "check/polygraph/misfits.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/sort_within.h"

namespace ouro {

std::size_t misfits(const Encoding& encoding, std::span<const Node> order, const Budget& budget) {
  std::vector<std::uint32_t> position(order.size());
  for_each_within(budget, 0, order.size(),
                  [&](std::size_t at) { position[order[at]] = static_cast<std::uint32_t>(at); });
  const auto first = encoding.chain_first();
  std::size_t count = 0;
  std::vector<std::pair<std::uint32_t, ChainId>> by_position;
  for_each_within(budget, 0, first.size() - 1, [&](std::size_t key) {
    by_position.clear();
    for (ChainId chain = first[key] + 1; chain < first[key + 1]; ++chain) {
      by_position.emplace_back(position[encoding.commit(encoding.chain(chain).first)], chain);
    }
    if (!sort_within(budget, by_position, std::less<>())) return;
    ChainId before = first[key];
    for (const auto& [_, chain] : by_position) {
      const Side side = encoding.before(std::exchange(before, chain), chain);
      bool backward = false;
      for (const Arc& arc : side.span()) backward |= position[arc.from] > position[arc.to];
      count += backward ? 1 : 0;
    }
  });
  return count;
}

}  // namespace ouro
