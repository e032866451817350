// Histories as graphs with open choices: nodes, chains, and what settles a choice.

#include "check/polygraph/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "check/polygraph/polygraph.h"
#include "check/polygraph/saturation.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

bool has_arc(const Encoding& encoding, Node from, Node to) {
  return std::any_of(encoding.arcs().begin(), encoding.arcs().end(),
                     [&](const Arc& arc) { return arc.from == from && arc.to == to; });
}
Encoding encoded(Tiny& t, Level level) { return {t.observed(), level, 0, true, 1, Budget()}; }

// "T1..T2 T3..T3": the first and last writers of the only key's chains, without the initial one.
std::string chains_of(std::string_view text, Level level = Level::Serializable) {
  Tiny t(text);
  const Encoding encoding = encoded(t, level);
  std::string out;
  for (ChainId id = 1; id < encoding.chain_count(); ++id) {
    out += (out.empty() ? "" : " ") + Tiny::name(encoding.chain(id).first) + ".." +
           Tiny::name(encoding.chain(id).last);
  }
  return out;
}

TEST(EncodingTest, SnapshotLevelsSplitATransactionIntoBeginAndCommit) {
  Tiny t("T1: w x 1\nT2: r x 1");
  const Encoding ser = encoded(t, Level::Serializable);
  EXPECT_EQ(ser.begin(Tiny::txn(2)), ser.commit(Tiny::txn(2)));
  EXPECT_TRUE(has_arc(ser, 0, 1));
  const Encoding si = encoded(t, Level::Si);
  EXPECT_TRUE(has_arc(si, si.begin(Tiny::txn(1)), si.commit(Tiny::txn(1))));
  EXPECT_TRUE(has_arc(si, si.commit(Tiny::txn(1)), si.begin(Tiny::txn(2))));
  EXPECT_EQ(si.txn(si.commit(Tiny::txn(2))), Tiny::txn(2));
}

TEST(EncodingTest, SessionsAreArcsWhereTheLevelLooksAtThem) {
  Tiny t("T1 @a: w x 1\nT2 @a: w y 2");
  EXPECT_FALSE(has_arc(encoded(t, Level::Serializable), 0, 1));
  EXPECT_TRUE(has_arc(encoded(t, Level::SessionSerializable), 0, 1));
}

TEST(EncodingTest, AnExhaustedBudgetStopsIt) {
  Tiny t("T1: w x 1");
  const std::atomic<bool> cancelled = true;
  const Budget budget(std::chrono::milliseconds(0), &cancelled);
  EXPECT_TRUE(Encoding(t.observed(), Level::Serializable, 0, true, 1, budget).stopped());
}

TEST(KeyChainsTest, WritersOfAKeyAreChainsOfTheirOwn) {
  EXPECT_EQ(chains_of("T1: w x 1\nT2: w x 2"), "T1..T1 T2..T2");
}

TEST(KeyChainsTest, WhoeverOverwritesWhatItReadFollowsImmediately) {
  EXPECT_EQ(chains_of("T1: w x 1\nT2: r x 1, w x 2\nT3: w x 3"), "T1..T2 T3..T3");
  EXPECT_EQ(chains_of("T1: w x 1\nT2: r x 1, w x 2", Level::Prefix), "T1..T1 T2..T2")
      << "at pc updates may be lost";
}

TEST(KeyChainsTest, AListReadContinuesTheInitialChain) {
  EXPECT_EQ(chains_of("T1: append x 1\nT2: append x 2\nT3: r x [2 1]"), "");
}

TEST(KeyChainsTest, AChoiceOrdersTheLastWriterAndItsReaderBeforeTheNextChain) {
  Tiny t("T1: w x 1\nT2: r x 1\nT3: w x 3");
  const Encoding encoding = encoded(t, Level::Serializable);
  ASSERT_EQ(encoding.chain_count(), 3u) << "the initial one, T1's and T3's";
  EXPECT_EQ(encoding.chain(1).readers, encoding.begin(Tiny::txn(2)));
  EXPECT_EQ(encoding.before(1, 2).count, 2u);
  EXPECT_EQ(encoding.before(2, 1).count, 1u) << "nobody read T3's";
}

TEST(KeyChainsTest, SeveralReadersAreGatheredInOneNode) {
  Tiny t("T1: w x 1\nT2: r x 1\nT3: w x 3\nT4: r x 1");
  const Encoding encoding = encoded(t, Level::Serializable);
  const Node readers = encoding.chain(1).readers;
  ASSERT_GE(readers, encoding.first_readers());
  EXPECT_EQ(encoding.readers_chain(readers), 1u);
  EXPECT_TRUE(has_arc(encoding, encoding.begin(Tiny::txn(2)), readers));
  EXPECT_TRUE(has_arc(encoding, encoding.begin(Tiny::txn(4)), readers));
}

TEST(SaturationTest, AChainThatReachesAnotherCannotFollowIt) {
  Tiny t("T1 @a: w x 1, w y 1\nT2 @b: r y 1, w x 2");
  const Encoding encoding = encoded(t, Level::Serializable);
  const Budget budget;
  DynamicOrder order(Digraph(encoding.node_count(), encoding.arcs()), std::nullopt,
                     std::vector<Node>{0, 1, 2}, budget);
  Saturation saturation(encoding, order);
  const auto impossible = saturation.round(budget);
  ASSERT_EQ(impossible.size(), 1u);
  EXPECT_EQ(encoding.chain(impossible[0].a).first, Tiny::txn(2));
  EXPECT_EQ(encoding.chain(impossible[0].b).first, Tiny::txn(1));
}

Verdict polygraph_verdict(std::string_view text, Level level) {
  Tiny t(text);
  return check_polygraph(t.observed(), level, Budget(), {});
}

TEST(ExplainerTest, ACycleThatIsKnownIsToldByItsEdges) {
  const Verdict verdict = polygraph_verdict(
      "initial 0\nT1: r x 0, r y 0, w x 1\nT2: r x 0, r y 0, w y 1", Level::Serializable);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.anomalies[0].kind, AnomalyKind::ForbiddenCycle);
  const std::string edges = Tiny::text(verdict.anomalies[0].edges);
  EXPECT_TRUE(edges == "T1 rw T2, T2 rw T1" || edges == "T2 rw T1, T1 rw T2") << edges;
}

// Whichever of T1 and T2 wrote x first, the reader of its version read y too early or too late.
TEST(ExplainerTest, WithoutAKnownCycleEveryWayToChooseIsRefuted) {
  const Verdict verdict = polygraph_verdict(
      "T1 @a: w x 1\nT2 @b: w x 2\nT3 @c: r x 1\nT4 @c: r x 2\nT5 @d: r x 2\nT6 @d: r x 1",
      Level::SessionSerializable);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.anomalies[0].kind, AnomalyKind::ContradictoryOrder);
  EXPECT_EQ(verdict.refutation.choices.size(), 1u);
  EXPECT_GE(verdict.refutation.steps.size(), 2u);
}

TEST(ParallelSiTest, ALongForkIsAllowedAndALostUpdateIsNot) {
  constexpr std::string_view kFork =
      "initial 0\nT1: w x 1\nT2: w y 1\nT3: r x 1, r y 0\nT4: r x 0, r y 1";
  EXPECT_EQ(polygraph_verdict(kFork, Level::ParallelSi).outcome, Outcome::Holds);
  EXPECT_EQ(polygraph_verdict(kFork, Level::Si).outcome, Outcome::Violated);
  constexpr std::string_view kLost = "initial 0\nT1: r x 0, w x 1\nT2: r x 0, w x 2";
  EXPECT_EQ(polygraph_verdict(kLost, Level::ParallelSi).outcome, Outcome::Violated);
}

}  // namespace
}  // namespace ouro
