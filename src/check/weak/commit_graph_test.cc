#include "check/weak/commit_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tiny.h"

namespace ouro {
namespace {

// A topological order of all transactions, or "cycle".
std::string sorted(Tiny& t, std::span<const ForcedEdge> forced) {
  const CommitGraph graph(t.observed(), Budget());
  const Digraph arcs = graph.with(forced, Budget());
  const auto order = topological_order(arcs, graph.likely_order(), Budget());
  if (order.size() < t.history().txn_count()) return "cycle";
  std::string out;
  for (const Node node : order) out += Tiny::name(TxnId{node});
  return out;
}

TEST(CommitGraphTest, SessionsReadsAndListsOrderTransactions) {
  Tiny t("T1 @a: r x 3\nT2 @b: append y 1\nT3 @a: w x 3\n");
  EXPECT_EQ(sorted(t, {}), "cycle") << "T1 reads from what follows in its session";
  Tiny lists("T1: append x 1\nT2: append x 2\nT3: r x [2 1]");
  EXPECT_EQ(sorted(lists, {}), "T2T1T3");
}

TEST(CommitGraphTest, ForcedEdgesCount) {
  Tiny t("T1: w x 1\nT2: w x 2\nT3: r x 1");
  EXPECT_EQ(sorted(t, {}), "T1T2T3");
  const ForcedEdge edge{Tiny::txn(2), Tiny::txn(1), t.item(3, 1), {}};
  EXPECT_EQ(sorted(t, {&edge, 1}), "T2T1T3");
}

TEST(CommitGraphTest, ACycleIsExplainedEdgeByEdge) {
  Tiny t("T1 @a: r x 3\nT2 @b: w y 1\nT3 @a: w x 3\n");
  const CommitGraph graph(t.observed(), Budget());
  const std::vector<Node> cycle = {0, 2};
  EXPECT_EQ(Tiny::text(graph.explain(cycle, {})), "T1 so T3, T3 wr T1");
}

TEST(CommitGraphTest, NothingPrecedesTheInitialTransaction) {
  Tiny t("initial 0\nT1: w x 1, w y 1\nT2: r y 1, r x 0");
  const CommitGraph graph(t.observed(), Budget());
  const ForcedEdge edge{Tiny::txn(1), kInitialTxn, t.item(2, 2), t.item(2, 1)};
  EXPECT_EQ(Tiny::text(graph.explain_initial(edge)), "T0 ww T1, T1 forced T0");
}

TEST(CommitGraphTest, TheWayByWhichAReaderSawAWriterIsItsSupport) {
  Tiny t("T1 @a: w x 1\nT2 @b: w x 2, w y 2\nT3 @c: r y 2, w z 3\nT4 @d: r z 3, r x 1");
  const CommitGraph graph(t.observed(), Budget());
  const ForcedEdge edge{Tiny::txn(2), Tiny::txn(1), t.item(4, 2), {}};
  const std::vector<Node> nodes = {1, 0};
  const auto cycle = graph.explain(nodes, {&edge, 1});
  EXPECT_EQ(Tiny::text(graph.support(std::span(cycle).first(1))), "T2 wr T3, T3 wr T4");
}

}  // namespace
}  // namespace ouro
