#include "check/polygraph/polygraph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

Verdict decided(std::string_view text, Level level, const CheckOptions& options = {}) {
  Tiny t(text);
  return check_polygraph(t.observed(), level, Budget(), options);
}

std::string order_of(const Verdict& verdict) {
  std::string out;
  for (const TxnId txn : verdict.order) out += Tiny::name(txn);
  return out;
}

constexpr char kWriteSkew[] = "T1 @a: r x nil, w y 1\nT2 @b: r y nil, w x 1";

TEST(PolygraphTest, KnownEdgesAloneMayViolate) {
  const Verdict verdict = decided(kWriteSkew, Level::Serializable);
  ASSERT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_EQ(verdict.anomalies.size(), 1u);
  EXPECT_EQ(verdict.anomalies[0].edges.size(), 2u) << "the shortest cycle is told";
  EXPECT_EQ(decided(kWriteSkew, Level::Si).outcome, Outcome::Holds);
}

TEST(PolygraphTest, AnOrderIsFoundAlthoughTheRecordedOneIsWrong) {
  // T2 read what T3 wrote, and T1 overwrote it.
  const Verdict verdict = decided("T1: w x 1\nT2: r x 3\nT3: w x 3", Level::Serializable);
  EXPECT_EQ(verdict.outcome, Outcome::Holds);
  const std::string order = order_of(verdict);
  ASSERT_EQ(order.size(), 6u);
  EXPECT_LT(order.find("T3"), order.find("T2"));
  EXPECT_TRUE(order.find("T1") < order.find("T3") || order.find("T2") < order.find("T1")) << order;
}

TEST(PolygraphTest, SnapshotLevelsGiveAScheduleOfBeginsAndCommits) {
  const Verdict verdict = decided(kWriteSkew, Level::Si);
  EXPECT_EQ(verdict.schedule.size(), 4u);
  EXPECT_EQ(std::count_if(verdict.schedule.begin(), verdict.schedule.end(),
                          [](const Event& event) { return event.commit; }),
            2);
}

// Two readers saw two blind writes in opposite orders, whatever the order of T1 and T2 is.
TEST(PolygraphTest, WhatNoOrderKeepsIsRefutedByCases) {
  const Verdict verdict =
      decided("T1: w x 1, w y 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2\nT4: r x 2, r y 1",
              Level::Serializable);
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
}

TEST(PolygraphTest, SessionsAndClocksCountWhereTheLevelHasThem) {
  const std::string stale = "T1 @a [1,2]: w x 1\nT2 @a [5,6]: r x nil";
  EXPECT_EQ(decided(stale, Level::Serializable).outcome, Outcome::Holds);
  EXPECT_EQ(decided(stale, Level::SessionSerializable).outcome, Outcome::Violated);
  const std::string apart = "T1 @a [1,2]: w x 1\nT2 @b [5,6]: r x nil";
  EXPECT_EQ(decided(apart, Level::SessionSerializable).outcome, Outcome::Holds);
  EXPECT_EQ(decided(apart, Level::StrictSerializable).outcome, Outcome::Violated);
  CheckOptions drift;
  drift.clock_drift = 3;
  EXPECT_EQ(decided(apart, Level::StrictSerializable, drift).outcome, Outcome::Holds);
}

TEST(PolygraphTest, AnExhaustedBudgetIsUndecided) {
  Tiny t(kWriteSkew);
  const std::atomic<bool> cancelled = true;
  const Budget budget(std::chrono::milliseconds(0), &cancelled);
  EXPECT_EQ(check_polygraph(t.observed(), Level::Serializable, budget, {}).outcome,
            Outcome::Undecided);
}

}  // namespace
}  // namespace ouro
