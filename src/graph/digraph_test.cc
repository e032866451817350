#include "graph/digraph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <queue>
#include <random>

namespace ouro {
namespace {

std::vector<Arc> random_arcs(std::size_t nodes, std::size_t arcs, bool acyclic, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Arc> out(arcs);
  for (Arc& arc : out) {
    arc = {static_cast<Node>(random() % nodes), static_cast<Node>(random() % nodes)};
    if (acyclic && arc.from > arc.to) std::swap(arc.from, arc.to);
    if (acyclic && arc.from == arc.to) arc = {0, 1};
  }
  return out;
}

// More nodes than one run of Digraph::fill() has, and more arcs than it leaves to one thread.
TEST(DigraphTest, KeepsTheArcsOfANodeInTheirOrderForAnyNumberOfThreads) {
  constexpr std::size_t kNodes = 100'003;
  const std::vector<Arc> arcs = random_arcs(kNodes, 350'000, false, 1);
  std::vector<std::vector<Node>> out(kNodes), in(kNodes);
  for (const Arc& arc : arcs) out[arc.from].push_back(arc.to);
  for (Node node = 0; node < kNodes; ++node) {
    for (const Node to : out[node]) in[to].push_back(node);
  }
  for (const unsigned threads : {1U, 2U, 5U}) {
    const Digraph graph(kNodes, arcs, threads);
    const Digraph back = graph.reversed(threads);
    ASSERT_EQ(graph.node_count(), kNodes);
    ASSERT_EQ(back.node_count(), kNodes);
    for (Node node = 0; node < kNodes; ++node) {
      ASSERT_TRUE(std::ranges::equal(graph.out(node), out[node])) << node;
      ASSERT_TRUE(std::ranges::equal(back.out(node), in[node])) << node;
    }
  }
}

TEST(DigraphTest, NoNodesAndNoArcsAreAGraph) {
  EXPECT_EQ(Digraph(0, {}).node_count(), 0U);
  const Digraph lonely = Digraph(3, {}).reversed();
  EXPECT_EQ(lonely.node_count(), 3U);
  EXPECT_TRUE(lonely.out(2).empty());
}

TEST(DigraphTest, AnExhaustedBudgetLeavesNoArcs) {
  const std::atomic<bool> cancelled = true;
  const Budget budget(std::chrono::milliseconds(0), &cancelled, 0);
  const Digraph graph(1000, random_arcs(1000, 5000, false, 2), 1, budget);
  EXPECT_EQ(graph.node_count(), 1000U);
  for (Node node = 0; node < 1000; ++node) EXPECT_TRUE(graph.out(node).empty());
}

TEST(DigraphTest, OfTheNodesThatCouldComeNextTheFirstPreferredDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::size_t nodes = 50 + 400 * seed;
    const std::vector<Arc> arcs = random_arcs(nodes, 2 * nodes, true, seed);
    std::vector<Node> preferred(nodes);
    std::iota(preferred.begin(), preferred.end(), 0);
    std::shuffle(preferred.begin(), preferred.end(), std::mt19937(seed));
    std::vector<std::size_t> rank(nodes), waiting(nodes, 0);
    for (std::size_t i = 0; i < nodes; ++i) rank[preferred[i]] = i;
    for (const Arc& arc : arcs) ++waiting[arc.to];
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (waiting[i] == 0) ready.push(rank[i]);
    }
    const Digraph graph(nodes, arcs);
    std::vector<Node> expected;
    for (; !ready.empty();) {
      const Node node = preferred[ready.top()];
      ready.pop();
      expected.push_back(node);
      for (const Node to : graph.out(node)) {
        if (--waiting[to] == 0) ready.push(rank[to]);
      }
    }
    ASSERT_EQ(expected.size(), nodes);
    EXPECT_EQ(topological_order(graph, preferred), expected);
  }
}

}  // namespace
}  // namespace ouro
