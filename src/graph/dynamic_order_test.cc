#include "graph/dynamic_order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace ouro {
namespace {

// Whether `to` can be reached from `from`, by a search that is too simple to be wrong.
bool reaches(const std::vector<Arc>& arcs, std::size_t nodes, Node from, Node to) {
  std::vector<bool> seen(nodes, false);
  std::vector<Node> todo{from};
  seen[from] = true;
  while (!todo.empty()) {
    const Node node = todo.back();
    todo.pop_back();
    for (const Arc& arc : arcs) {
      if (arc.from != node || seen[arc.to]) continue;
      seen[arc.to] = true;
      todo.push_back(arc.to);
    }
  }
  return seen[to];
}

TEST(DynamicOrderTest, AgreesWithPlainReachabilityOnRandomGraphs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + random() % 12;
    std::vector<Node> order(nodes);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Arc> arcs;
    for (Node from = 0; from + 1 < nodes; ++from) {
      if (random() % 2 == 0)
        arcs.push_back({from, static_cast<Node>(from + 1 + random() % (nodes - from - 1))});
    }
    const std::size_t known = arcs.size();
    const Budget budget;
    DynamicOrder dynamic(Digraph(order.size(), arcs), {}, order, budget);
    for (int step = 0; step < 60; ++step) {
      if (random() % 8 == 0 && arcs.size() > known) {
        const std::size_t keep = known + random() % (arcs.size() - known);
        dynamic.shrink(keep - known);
        arcs.resize(keep);
        continue;
      }
      const Arc arc{static_cast<Node>(random() % nodes), static_cast<Node>(random() % nodes)};
      const bool cycle = reaches(arcs, nodes, arc.to, arc.from);
      ASSERT_EQ(dynamic.add(arc, static_cast<unsigned>(step)), !cycle) << "seed " << seed;
      if (!cycle) {
        arcs.push_back(arc);
      } else if (arc.from != arc.to) {
        const auto path = dynamic.lightest_path(arc.to, arc.from);
        ASSERT_FALSE(path.empty()) << "seed " << seed;
        ASSERT_EQ(path.front().arc.from, arc.to);
        ASSERT_EQ(path.back().arc.to, arc.from);
        for (std::size_t i = 1; i < path.size(); ++i) {
          ASSERT_EQ(path[i - 1].arc.to, path[i].arc.from);
        }
      }
      for (const Arc& known_arc : arcs) {
        ASSERT_LT(dynamic.position(known_arc.from), dynamic.position(known_arc.to))
            << "seed " << seed;
      }
    }
  }
}

TEST(DynamicOrderTest, PathsPreferArcsWithoutALabel) {
  // 3 can be reached from 0 by one labelled arc, or through 1 and 2 without labels.
  const std::vector<Arc> arcs{{0, 1}, {1, 2}, {2, 3}};
  const Budget budget;
  DynamicOrder dynamic(Digraph(4, arcs), {}, std::vector<Node>{0, 1, 2, 3}, budget);
  ASSERT_TRUE(dynamic.add({0, 3}, 7));
  EXPECT_EQ(dynamic.lightest_path(0, 3).size(), 3u);
  EXPECT_TRUE(dynamic.lightest_path(3, 0).empty());
}

}  // namespace
}  // namespace ouro
