// What a search begins with.

#include "check/polygraph/first_guess.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// "T1 T2": the first order of the nodes of transactions; "cyclic" if the known arcs are.
std::string first_order(std::string_view text, Level level, bool guess = true,
                        SearchFor open = {}) {
  Tiny t(text);
  const Encoding encoding(t.observed(), level, 0, true, 1, Budget(), open);
  CheckOptions options;
  options.search.guess = guess;
  const Start start =
      begin_with(Digraph(encoding.node_count(), encoding.arcs()), encoding, options, Budget());
  if (start.cyclic()) return "cyclic";
  EXPECT_EQ(start.order.size(), encoding.node_count());
  std::string out;
  for (const Node node : start.order) {
    const TxnId txn = encoding.txn(node);
    if (txn != kInitialTxn) out += (out.empty() ? "" : " ") + Tiny::name(txn);
  }
  return out;
}

TEST(FirstGuessTest, WhatIsKnownIsKept) {
  for (const bool guess : {false, true}) {
    EXPECT_EQ(first_order("T1: r x 1\nT2: w x 1", Level::Serializable, guess), "T2 T1");
    EXPECT_EQ(first_order("T1 @a: w x 1\nT2 @a: w y 1", Level::SessionSerializable, guess),
              "T1 T2");
  }
}

TEST(FirstGuessTest, KnownArcsMayBeCyclic) {
  EXPECT_EQ(first_order("T1: r x 2, w y 1\nT2: r y 1, w x 2", Level::Serializable), "cyclic");
}

TEST(FirstGuessTest, WithoutAnythingElseTheRecordedOrderStays) {
  EXPECT_EQ(first_order("T1: w x 1\nT2: w x 2\nT3: w y 3", Level::Serializable, false), "T1 T2 T3");
}

TEST(FirstGuessTest, AtSnapshotLevelsBeginsAndCommitsAreNodes) {
  EXPECT_EQ(first_order("T1: w x 1\nT2: r x 1", Level::Si), "T1 T1 T2 T2");
}

// T3 returned what T1 wrote, which T2 overwrote before it in the file.
TEST(FirstGuessTest, OpenReadsAreSatisfiedIfTheyCanBe) {
  const std::string order = first_order("initial 1\nT1 @a: w x 1\nT2 @b: w x 2\nT3 @c: r x 1",
                                        Level::Serializable, true, {.sources = true});
  EXPECT_LT(order.find("T3"), order.find("T2")) << order;
}

TEST(FirstGuessTest, AnExhaustedBudgetEndsItAtOnce) {
  Tiny t("T1: w x 1");
  const Encoding encoding(t.observed(), Level::Serializable, 0, true, 1, Budget());
  const std::atomic<bool> cancelled = true;
  const Budget budget(std::chrono::milliseconds(0), &cancelled);
  EXPECT_TRUE(begin_with(Digraph(encoding.node_count(), encoding.arcs()), encoding, {}, budget)
                  .order.empty());
}

}  // namespace
}  // namespace ouro
