// Who reaches whom, while arcs come and go: compared with a search from every node.

#include "graph/closure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/this_build.h"

namespace ouro {
namespace {

std::vector<bool> reached_from(Node start, const std::vector<Arc>& arcs, std::size_t nodes) {
  std::vector<bool> reached(nodes, false);
  reached[start] = true;
  for (bool again = true; again;) {
    again = false;
    for (const Arc& arc : arcs) {
      if (!reached[arc.from] || reached[arc.to]) continue;
      reached[arc.to] = again = true;
    }
  }
  return reached;
}

void expect_same(const Closure& closure, const std::vector<Arc>& arcs, std::size_t nodes) {
  for (Node from = 0; from < nodes; ++from) {
    const std::vector<bool> reached = reached_from(from, arcs, nodes);
    for (Node to = 0; to < nodes; ++to) ASSERT_EQ(closure.reaches(from, to), reached[to]);
  }
}

// A closure, and its arcs: those that were known, then those that were added and something new.
struct Watched {
  explicit Watched(std::size_t node_count, std::vector<Arc> known_arcs)
      : nodes(node_count),
        known(known_arcs.size()),
        arcs(std::move(known_arcs)),
        closure(Digraph(nodes, arcs)) {}

  // Adds an arc, and expects that it says who gains what.
  void add(Arc arc) {
    if (closure.reaches(arc.to, arc.from)) return;
    const bool something_new = !closure.reaches(arc.from, arc.to);
    std::vector<std::vector<bool>> before;
    for (Node node = 0; node < nodes; ++node) before.push_back(reached_from(node, arcs, nodes));
    if (something_new) arcs.push_back(arc);
    std::vector<bool> told(nodes, false);
    closure.add(arc, [&](Node node, const Closure::Gain& gain) {
      EXPECT_FALSE(told[node]);
      told[node] = true;
      const std::vector<bool> now = reached_from(node, arcs, nodes);
      for (Node to = 0; to < nodes; ++to) EXPECT_EQ(gain.has(to), now[to] && !before[node][to]);
      return true;
    });
    for (Node node = 0; node < nodes; ++node) {
      EXPECT_EQ(told[node], before[node] != reached_from(node, arcs, nodes));
    }
  }

  void shrink(std::size_t size) {
    closure.shrink(size);
    arcs.resize(known + size);
  }

  std::size_t nodes, known;
  std::vector<Arc> arcs;
  Closure closure;
};

TEST(ClosureTest, KnowsWhoReachesWhomWhileArcsComeAndGo) {
  for (unsigned seed = 0; seed < 60 / kSlowdown + 1; ++seed) {
    std::mt19937 random(seed);
    const std::size_t nodes = 5 + random() % 200;
    const auto node = [&] { return static_cast<Node>(random() % nodes); };
    std::vector<Arc> known;
    for (std::size_t i = 0; i < nodes / 3; ++i) {
      const Node a = node();
      const Node b = node();
      if (a != b) known.push_back({std::min(a, b), std::max(a, b)});
    }
    Watched watched(nodes, std::move(known));
    for (int step = 0; step < 40; ++step) {
      if (watched.closure.size() > 0 && random() % 8 == 0) {
        watched.shrink(random() % watched.closure.size());
      } else {
        watched.add({node(), node()});
      }
      ASSERT_EQ(watched.closure.size(), watched.arcs.size() - watched.known);
    }
    expect_same(watched.closure, watched.arcs, nodes);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(WordStackTest, GivesBackWhatWasPushedAcrossBlocks) {
  WordStack stack;
  std::vector<std::size_t> counts;
  std::mt19937 random(1);
  for (int round = 0; round < 3; ++round) {
    while (stack.bytes() < 4 * WordStack::kBlock * sizeof(std::uint64_t) || counts.size() < 500) {
      counts.push_back(1 + random() % 1000);
      std::uint64_t* words = stack.push(counts.back());
      for (std::size_t i = 0; i < counts.back(); ++i) words[i] = counts.size() * 1000 + i;
    }
    const std::size_t keep = random() % counts.size();
    for (; counts.size() > keep; counts.pop_back()) {
      ASSERT_EQ(stack.last(), counts.size() * 1000 + counts.back() - 1);
      const std::uint64_t* words = stack.pop(counts.back());
      for (std::size_t i = 0; i < counts.back(); ++i) {
        ASSERT_EQ(words[i], counts.size() * 1000 + i);
      }
    }
  }
}

}  // namespace
}  // namespace ouro
