#include "ouro/effort.h"

#include <algorithm>

namespace ouro {

std::string_view name(Stage stage) {
  constexpr std::array<std::string_view, kStageCount> kNames{
      "load",  "join",   "sort",  "replay", "force",   "encode",
      "order", "search", "prove", "others", "explain", "certify"};
  return kNames[static_cast<std::size_t>(stage)];
}

void SearchCounts::add(const SearchCounts& other) {
  searches += other.searches;
  nodes = std::max(nodes, other.nodes);
  arcs = std::max(arcs, other.arcs);
  chains = std::max(chains, other.chains);
  pairs = std::max(pairs, other.pairs);
  choices += other.choices;
  decisions += other.decisions;
  conflicts += other.conflicts;
  full_conflicts += other.full_conflicts;
}

void Effort::add(const Effort& other) {
  for (std::size_t i = 0; i < kStageCount; ++i) seconds[i] += other.seconds[i];
  search.add(other.search);
}

}  // namespace ouro
