#include "tests/oracle.h"

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/case_file.h"
#include "tests/observed.h"
#include "tests/replay.h"
#include "tests/small_histories.h"

namespace ouro::oracle {
namespace {

// How often each level allowed a history, and how often not.
class LatticeTally {
 public:
  void count(const LevelSet& allowed) {
    for (const LevelInfo& level : levels()) {
      ++counts_[index(level.level)][allowed.has(level.level) ? 0 : 1];
      for (const LevelInfo& other : levels()) {
        if (allowed.has(level.level) && !allowed.has(other.level)) {
          ++apart_[index(level.level)][index(other.level)];
        }
      }
    }
  }
  // At least `least` of either verdict at every level; prints the counts.
  void expect_both_verdicts(std::size_t least) const {
    for (const LevelInfo& level : levels()) {
      const auto& [holds, violated] = counts_[index(level.level)];
      std::cout << "  " << level.name << ": " << holds << " hold, " << violated << " violated\n";
      EXPECT_GE(holds, least) << level.name;
      EXPECT_GE(violated, least) << level.name;
    }
  }
  // For any two levels of which the first does not imply the second, some history shows it. (rr
  // is ser here: there are no predicates.)
  void expect_levels_differ() const {
    for (const LevelInfo& holds : levels()) {
      for (const LevelInfo& violated : levels()) {
        const bool same = holds.level == Level::RepeatableRead
                              ? implies(Level::Serializable, violated.level)
                              : implies(holds.level, violated.level);
        const std::size_t count = apart_[index(holds.level)][index(violated.level)];
        EXPECT_EQ(count > 0, !same) << holds.name << " without " << violated.name;
      }
    }
  }

 private:
  static std::size_t index(Level level) { return static_cast<std::size_t>(level); }

  std::array<std::array<std::size_t, 2>, kLevelCount> counts_{};
  // How often the first of two levels held and the second did not.
  std::array<std::array<std::size_t, kLevelCount>, kLevelCount> apart_{};
};

// The implication that `allowed` breaks, as text; empty if none.
std::string broken_implication(const LevelSet& allowed) {
  for (const LevelInfo& stronger : levels()) {
    for (const LevelInfo& weaker : levels()) {
      if (implies(stronger.level, weaker.level) && allowed.has(stronger.level) &&
          !allowed.has(weaker.level)) {
        return std::string(stronger.name) + " holds but " + std::string(weaker.name) + " does not";
      }
    }
  }
  return "";
}

// The level on which replay and oracle differ, as text; empty if none.
std::string replay_disagreement(const History& history, const LevelSet& allowed) {
  for (const LevelInfo& level : levels()) {
    if (is_replayable(level.level) && replays(history, level.level) != allowed.has(level.level)) {
      return std::string("replay disagrees at ") + std::string(level.name);
    }
  }
  return "";
}

TEST(OracleTest, VerdictsOnAllSmallHistoriesFollowTheLattice) {
  LatticeTally tally;
  const std::size_t count =
      for_each_history({.txns = 4, .ops = 2, .keys = 2, .sessions = 2, .stride = 11 * kSlowdown},
                       [&tally](const History& history) {
                         const LevelSet allowed = allowed_levels(history);
                         tally.count(allowed);
                         ASSERT_EQ(broken_implication(allowed), "") << to_string(history);
                       });
  std::cout << count << " histories\n";
  EXPECT_GT(count, 500'000 / kSlowdown);
  tally.expect_both_verdicts(1000 / kSlowdown);
}

TEST(OracleTest, VerdictsOnRandomHistoriesFollowTheLattice) {
  LatticeTally tally;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    tally.count(allowed);
    ASSERT_EQ(broken_implication(allowed), "") << "seed " << seed << "\n" << to_string(history);
  }
  tally.expect_both_verdicts(1000);
  tally.expect_levels_differ();
}

TEST(OracleTest, AgreesWithReplayOnSmallHistories) {
  for_each_history({.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 7 * kSlowdown},
                   [](const History& history) {
                     if (HasFatalFailure()) return;
                     ASSERT_EQ(replay_disagreement(history, allowed_levels(history)), "")
                         << to_string(history);
                   });
}

TEST(OracleTest, AgreesWithReplayOnRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 3000 / kSlowdown; ++seed) {
    RandomShape shape = mixed_shape(seed);
    shape.min_txns = std::min<std::size_t>(shape.min_txns, 4);
    shape.max_txns = 4;
    const History history = random_history(seed, shape);
    ASSERT_EQ(replay_disagreement(history, allowed_levels(history)), "") << "seed " << seed << "\n"
                                                                         << to_string(history);
  }
}

TEST(OracleTest, AHistoryOfASerialStoreIsStrictSerializable) {
  for (std::uint64_t seed = 1; seed <= 1000 / kSlowdown; ++seed) {
    RandomShape shape = mixed_shape(seed);
    shape.shuffle = shape.lag = shape.fork = shape.creep = shape.stray = shape.wrong = 0;
    shape.clock_noise = 0.5;
    const History history = random_history(seed, shape);
    for (const LevelInfo& level : levels()) {
      ASSERT_TRUE(allowed(history, level.level)) << level.name << ", seed " << seed << "\n"
                                                 << to_string(history);
    }
  }
}

TEST(OracleTest, ClockDriftForgivesSmallInversionsOfRealTime) {
  const History history = history_of(R"(
    initial 0
    T1 @s1 [10,20]: w x 1
    T2 @s2 [25,30]: r x 0
  )");
  EXPECT_FALSE(allowed(history, Level::StrictSerializable));
  EXPECT_FALSE(allowed(history, Level::StrictSerializable, {.clock_drift = 4}));
  EXPECT_TRUE(allowed(history, Level::StrictSerializable, {.clock_drift = 5}));
  EXPECT_FALSE(allowed(history, Level::StrongSi, {.clock_drift = 4}));
  EXPECT_TRUE(allowed(history, Level::StrongSi, {.clock_drift = 5}));
}

TEST(OracleTest, AmbiguousHistoriesAreRefused) {
  EXPECT_THROW(static_cast<void>(allowed_levels(history_of("T1: append x 1\nT2: append x 1"))),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(allowed_levels(history_of("T1: w x 1\nT2: append x 2"))),
               std::invalid_argument);
}

TEST(OracleTest, UnknownTransactionsCountOnceSeenEvenThroughOthers) {
  const Observed seen = observe(history_of(R"(
    T1 @s1 unknown: w x 1
    T2 @s2 unknown: r x 1, w y 2
    T3 @s3 unknown: w z 3
    T4 @s4: r y 2
  )"));
  ASSERT_EQ(seen.txns.size(), 4u);
  EXPECT_EQ(seen.txns[0].id, kInitialTxn);
  EXPECT_EQ(seen.txns[1].id, TxnId{0});
  EXPECT_EQ(seen.txns[2].id, TxnId{1});
  EXPECT_EQ(seen.txns[3].id, TxnId{3});
}

TEST(OracleTest, AnOrderProvesALevelOnlyIfItSatisfiesIt) {
  const History write_skew = history_of(R"(
    initial 0
    T1 @s1: r x 0, r y 0, w x 1
    T2 @s2: r x 0, r y 0, w y 2
    T3 @s3 aborted: w x 3
  )");
  const TxnId order[] = {TxnId{0}, TxnId{1}};
  EXPECT_TRUE(order_proves(write_skew, Level::Prefix, order));
  EXPECT_TRUE(order_proves(write_skew, Level::SessionSi, order));
  EXPECT_FALSE(order_proves(write_skew, Level::Serializable, order));
  EXPECT_FALSE(order_proves(write_skew, Level::Prefix, {order, 1}));  // T2 is missing.
  const TxnId with_aborted[] = {TxnId{0}, TxnId{1}, TxnId{2}};
  EXPECT_FALSE(order_proves(write_skew, Level::ReadCommitted, with_aborted));
  const TxnId twice[] = {TxnId{0}, TxnId{0}};
  EXPECT_FALSE(order_proves(write_skew, Level::ReadCommitted, twice));

  const History serial = history_of("T1 @s1: w x 1\nT2 @s2: r x 1, w x 2\nT3 @s3: r x 2");
  const TxnId forward[] = {TxnId{0}, TxnId{1}, TxnId{2}};
  const TxnId backward[] = {TxnId{0}, TxnId{2}, TxnId{1}};
  for (const LevelInfo& level : levels()) {
    EXPECT_TRUE(order_proves(serial, level.level, forward)) << level.name;
    EXPECT_FALSE(order_proves(serial, level.level, backward)) << level.name;
  }
}

// A list's versions are whole lists: the interleaving in T4's read has no version order.
TEST(OracleTest, AppendsOfOneTransactionStandTogetherInEveryListRead) {
  EXPECT_TRUE(allowed(history_of(R"(
    T1: append l 1, append l 2
    T2: append l 3
    T3: r l [1 2 3]
  )"),
                      Level::StrictSerializable));
  for (const char* read : {"[1 3 2]", "[2 1]", "[1 3]", "[2 3]", "[3 2]"}) {
    const History history =
        history_of(std::string("T1: append l 1, append l 2\n") + "T2: append l 3\nT3: r l " + read);
    for (const LevelInfo& level : levels()) {
      EXPECT_FALSE(allowed(history, level.level)) << read << " at " << level.name;
    }
  }
}

TEST(OracleTest, AListReadAfterOwnAppendsFixesTheVersionOrder) {
  const History history = history_of(R"(
    T1 @s1: append l 1, r l [2 1]
    T2 @s1: append l 2
  )");
  EXPECT_EQ(plain_anomalies(history), std::set<AnomalyKind>{});
  EXPECT_TRUE(allowed(history, Level::Serializable));    // T2, T1.
  EXPECT_FALSE(allowed(history, Level::ReadCommitted));  // The session says T1, T2.
}

// And it is a dependency: T2 saw T1's append to l, so it may not miss the one to m.
TEST(OracleTest, WhatStandsBeforeOwnAppendsWasReadFromOthers) {
  const History history = history_of(R"(
    T1 @s1: append l 1, append m 1
    T2 @s2: append l 2, r l [1 2], r m []
  )");
  EXPECT_FALSE(allowed(history, Level::ReadCommitted));
  EXPECT_FALSE(allowed(history, Level::Causal));
  EXPECT_FALSE(allowed(history, Level::Serializable));
}

}  // namespace
}  // namespace ouro::oracle
