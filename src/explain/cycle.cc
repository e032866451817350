// Each transaction has two nodes, 2t and 2t + 1. At levels of snapshots they are its begin and its
// commit (see check/polygraph/encoding.h), so that every cycle of the graph is a forbidden one.
// Parallel SI forbids cycles with at most one overwritten read; there a path is at the second node
// of a transaction if it has passed one already. At other levels only the first node is used.

#include "explain/cycle.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "base/level_rules.h"

namespace ouro {
namespace {

// The cost of an edge. The number of edges counts most; then that of overwritten reads, since with
// fewer of them the anomaly is worse; then that of edges from clocks and sessions, which not every
// history records; then that of assumed edges.
constexpr std::uint64_t kStep = 1'000'000;
constexpr std::uint64_t kOverwrittenRead = 10'000;
constexpr std::uint64_t kClock = 400;
constexpr std::uint64_t kSession = 20;
constexpr std::uint64_t kAssumed = 1;

std::uint64_t cost_of(const Fact& fact) {
  std::uint64_t cost = kStep;
  if (fact.edge.kind == EdgeKind::ReadWrite) cost += kOverwrittenRead;
  if (is_real_time(fact.edge.kind)) cost += kClock;
  if (fact.edge.kind == EdgeKind::Session) cost += kSession;
  return fact.premises == 0 ? cost : cost + kAssumed;
}

constexpr std::uint32_t kNoFact = 0xffffffff;

struct Arc {
  std::size_t to = 0;
  std::uint32_t fact = kNoFact;  // Index of the edge; kNoFact: from a begin to its commit.
  std::uint64_t cost = 0;
};

class Graph {
 public:
  Graph(std::span<const Fact> facts, std::size_t txns, Level level)
      : facts_(facts), rules_(rules(level)), arcs_(2 * txns) {
    const bool split = rules_.begins_apart();
    for (std::size_t t = 0; split && t < txns; ++t) arcs_[2 * t].push_back({2 * t + 1, kNoFact, 0});
    for (std::uint32_t i = 0; i < facts.size(); ++i) {
      const auto [from, to] = split ? between_events(facts[i].edge) : plain(facts[i].edge);
      add(from, to, i);
      if (!rules_.rw_orders() && facts[i].edge.kind != EdgeKind::ReadWrite)
        add(from + 1, to + 1, i);
    }
  }

  Cycle shortest() {
    Cycle best;
    best.cost = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t start = 0; start < arcs_.size(); ++start) {
      if (!rules_.rw_orders() && start % 2 == 1) continue;
      search(start, best.cost);
      for (std::size_t end : ends(start)) {
        if (distance_[end] < best.cost) best = walk(start, end);
      }
    }
    return best;
  }

 private:
  struct Ends {
    std::size_t first, second;
  };

  void add(std::size_t from, std::size_t to, std::uint32_t fact) {
    arcs_[from].push_back({to, fact, cost_of(facts_[fact])});
  }

  // The arc between begins and commits that stands for the edge.
  [[nodiscard]] Ends between_events(const Edge& edge) const {
    const std::size_t from = 2 * edge.from.index();
    const std::size_t to = 2 * edge.to.index();
    const bool from_begin = edge.kind == EdgeKind::ReadWrite || edge.kind == EdgeKind::BeginTime;
    if (from_begin) return {from, to + 1};
    const bool to_commit = edge.kind == EdgeKind::CommitTime ||
                           (edge.kind == EdgeKind::WriteWrite && rules_.lost_updates) ||
                           (edge.kind == EdgeKind::RealTime && rules_.time_to_commit());
    return {from + 1, to_commit ? to + 1 : to};
  }

  // The arc between transactions. At psi one for an overwritten read ends at the second node.
  [[nodiscard]] Ends plain(const Edge& edge) const {
    const bool passed = !rules_.rw_orders() && edge.kind == EdgeKind::ReadWrite;
    return {2 * edge.from.index(), 2 * edge.to.index() + (passed ? 1 : 0)};
  }

  // The nodes at which a path from `start` has closed a forbidden cycle.
  [[nodiscard]] std::vector<std::size_t> ends(std::size_t start) const {
    if (!rules_.rw_orders()) return {start, start + 1};
    return {start};
  }

  // Finds the distances of all nodes that can be reached from `start` for less than `limit`. The
  // distance of `start` itself is that of the shortest cycle through it.
  void search(std::size_t start, std::uint64_t limit) {
    distance_.assign(arcs_.size(), std::numeric_limits<std::uint64_t>::max());
    via_.assign(arcs_.size(), {});
    using Entry = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto expand = [&](std::size_t node, std::uint64_t distance) {
      for (const Arc& arc : arcs_[node]) {
        const std::uint64_t sum = distance + arc.cost;
        if (sum >= limit || sum >= distance_[arc.to]) continue;
        distance_[arc.to] = sum;
        via_[arc.to] = {node, arc.fact};
        queue.emplace(sum, arc.to);
      }
    };
    expand(start, 0);
    while (!queue.empty()) {
      const auto [distance, node] = queue.top();
      queue.pop();
      if (distance == distance_[node] && node != start) expand(node, distance);
    }
  }

  // The path from `start` to `end` that search() found.
  [[nodiscard]] Cycle walk(std::size_t start, std::size_t end) const {
    Cycle cycle;
    cycle.cost = distance_[end];
    std::size_t node = end;
    do {
      if (via_[node].fact != kNoFact) cycle.edges.push_back(facts_[via_[node].fact]);
      node = via_[node].from;
    } while (node != start);
    std::reverse(cycle.edges.begin(), cycle.edges.end());
    return cycle;
  }

  // The last arc of the shortest path to a node.
  struct Via {
    std::size_t from = 0;
    std::uint32_t fact = kNoFact;
  };

  std::span<const Fact> facts_;
  const LevelRules& rules_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<std::uint64_t> distance_;
  std::vector<Via> via_;
};

}  // namespace

Premises Cycle::premises() const {
  Premises all = 0;
  for (const Fact& fact : edges) all |= fact.premises;
  return all;
}

Cycle shortest_cycle(std::span<const Fact> edges, std::size_t txns, Level level) {
  return Graph(edges, txns, level).shortest();
}

}  // namespace ouro
