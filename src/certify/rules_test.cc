#include "certify/rules.h"

#include <gtest/gtest.h>

#include "ouro/check.h"

namespace ouro::recheck {
namespace {

TEST(RulesTest, EveryLevelHasSome) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, Evidence::Observed) &&
        !decidable(level.level, Evidence::Versions)) {
      continue;
    }
    EXPECT_NE(rules_of(level.level).family, Family::Unknown) << level.name;
  }
}

// A level that implies another forbids whatever that one forbids.
TEST(RulesTest, AStrongerLevelAsksForMore) {
  for (const LevelInfo& stronger : levels()) {
    for (const LevelInfo& weaker : levels()) {
      if (!implies(stronger.level, weaker.level)) continue;
      const Rules more = rules_of(stronger.level);
      const Rules less = rules_of(weaker.level);
      // The definitions of the weak levels mention sessions, yet some levels that imply the weakest
      // of them do without.
      if (less.family != Family::Weak && stronger.level != weaker.level) {
        EXPECT_GE(more.sessions, less.sessions) << stronger.name << " and " << weaker.name;
      }
      EXPECT_GE(more.real_time, less.real_time) << stronger.name << " and " << weaker.name;
      EXPECT_LE(more.lost_updates, less.lost_updates) << stronger.name << " and " << weaker.name;
      if (more.real_time && less.real_time) {
        EXPECT_LE(more.commit_to_commit, less.commit_to_commit)
            << stronger.name << " and " << weaker.name;
      }
    }
  }
}

// Only the weak levels have an axiom about what a transaction knows.
TEST(RulesTest, WeakLevelsSayWhatATransactionKnows) {
  for (const LevelInfo& level : levels()) {
    const Rules rules = rules_of(level.level);
    EXPECT_EQ(rules.knows != Knows::None, rules.family == Family::Weak) << level.name;
  }
}

TEST(RulesTest, RealTimeBetweenCommitsIsRealTime) {
  for (const LevelInfo& level : levels()) {
    const Rules rules = rules_of(level.level);
    EXPECT_LE(rules.commit_to_commit, rules.real_time) << level.name;
  }
}

}  // namespace
}  // namespace ouro::recheck
