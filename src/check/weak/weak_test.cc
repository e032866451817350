// What the rule of each weak level forces on the commit order.

#include "check/weak/weak.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/level_rules.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

std::string forced_by(Level level, std::string_view text) {
  Tiny t(text);
  std::vector<Node> nodes(t.history().txn_count());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<Node>(i);
  const Guess guess(t.observed(), nodes, rules(level).premise, Budget());
  const auto edges = level == Level::ReadCommitted ? infer_read_committed(t.observed(), nullptr, {})
                     : level == Level::ReadAtomic  ? infer_read_atomic(t.observed(), nullptr, {})
                                                   : infer_causal(t.observed(), guess, {}, 1);
  std::vector<std::string> out;
  for (const ForcedEdge& edge : edges) out.push_back(Tiny::name(edge.from) + Tiny::name(edge.to));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::string text_of_all;
  for (const std::string& edge : out) text_of_all += edge + ' ';
  return text_of_all;
}

TEST(ReadCommittedTest, WhatAnEarlierReadSawCommitsBeforeWhatALaterOneReturns) {
  constexpr std::string_view kLater = "T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, r x 1";
  constexpr std::string_view kEarlier = "T1: w x 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2";
  EXPECT_EQ(forced_by(Level::ReadCommitted, kLater), "T2T1 ");
  EXPECT_EQ(forced_by(Level::ReadCommitted, kEarlier), "");
}

TEST(ReadAtomicTest, WhatAnyReadOrTheSessionSawCommitsBefore) {
  EXPECT_EQ(forced_by(Level::ReadAtomic, "T1: w x 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2"), "T2T1 ");
  EXPECT_EQ(forced_by(Level::ReadAtomic, "T1 @a: w x 1\nT2 @b: w x 2\nT3 @b: r x 1"), "T2T1 ");
  EXPECT_EQ(forced_by(Level::ReadAtomic, "T1: w x 1\nT2: w x 2\nT3: r x 1"), "");
}

TEST(CausalTest, WhatReachesAReaderByAnyWayCommitsBefore) {
  constexpr std::string_view kText =
      "T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, w z 3\nT4: r z 3, r x 1";
  EXPECT_EQ(forced_by(Level::Causal, kText), "T2T1 ");
  EXPECT_EQ(forced_by(Level::ReadAtomic, kText), "");
}

TEST(WeakTest, ACertificateIsAnOrderOfAllThatCount) {
  Tiny t("T1: w x 1\nT2 aborted: w x 2\nT3: r x 1");
  const Verdict verdict = check_weak(t.observed(), Level::Causal, Budget(), {});
  EXPECT_EQ(verdict.outcome, Outcome::Holds);
  EXPECT_EQ(verdict.order, (std::vector<TxnId>{Tiny::txn(1), Tiny::txn(3)}));
}

TEST(WeakTest, AMissedHalfIsAFracturedReadAtReadAtomicOnly) {
  Tiny t("initial 0\nT1: w x 1, w y 1\nT2: r x 0, r y 1");
  EXPECT_EQ(check_weak(t.observed(), Level::ReadCommitted, Budget(), {}).outcome, Outcome::Holds);
  const Verdict verdict = check_weak(t.observed(), Level::ReadAtomic, Budget(), {});
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.anomalies[0].kind, AnomalyKind::FracturedRead);
  EXPECT_EQ(Tiny::text(verdict.anomalies[0].edges), "T0 ww T1, T1 forced T0");
}

}  // namespace
}  // namespace ouro
