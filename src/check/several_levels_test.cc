#include "check/several_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "check/one_level.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

constexpr const char* kHistories[] = {
    "T1: w x 1\nT2: r x 1\n",                                  // All hold.
    "initial 0\nT1: r x 0, w x 1\nT2: r x 0, w x 2\n",         // Lost update.
    "initial 0\nT1: r x 0, w y 1\nT2: r y 0, w x 2\n",         // Write skew.
    "initial 0\nT1 [10,20]: w x 1\nT2 [30,40]: r x 0\n",       // Stale in real time.
    "T1: w x 1, w y 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2\n",  // Fractured read.
    // Session misses own write.
    "initial 0\nT1 @s: w x 1\nT2 @s: r x 0, w y 1\nT3: r y 1, r x 0\n",
    "T1: w x 1\nT2 aborted: w x 2\nT3: r x 2\n",  // None holds.
};

std::vector<Level> observable_levels() {
  std::vector<Level> out;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level)) out.push_back(level.level);
  }
  return out;
}

TEST(SeveralLevelsTest, SayWhatEachLevelSaysAlone) {
  std::vector<Level> asked = observable_levels();
  const Budget budget;
  for (const char* text : kHistories) {
    const History history = oracle::history_of(text);
    for (const bool outcomes_only : {false, true}) {
      CheckOptions options;
      options.outcomes_only = outcomes_only;
      auto observed = Observed::observe(history, budget, 1);
      ASSERT_TRUE(observed.ok());
      const auto verdicts = decide_levels(*observed, PredicateReads(), asked, budget, options);
      ASSERT_EQ(verdicts.size(), asked.size());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(verdicts[i].level, asked[i]);
        EXPECT_EQ(verdicts[i].outcome,
                  decide_level(*observed, PredicateReads(), asked[i], budget, options).outcome)
            << info(asked[i]).name << '\n'
            << text;
      }
    }
    std::rotate(asked.begin(), asked.begin() + 5, asked.end());  // In any order.
  }
}

TEST(SeveralLevelsTest, WhatIsNotDecidedSaysWhy) {
  const History history = oracle::history_of(kHistories[1]);
  auto observed = Observed::observe(history, Budget(), 1);
  ASSERT_TRUE(observed.ok());
  const std::atomic<bool> cancelled = true;
  for (const bool outcomes_only : {false, true}) {
    CheckOptions options;
    options.outcomes_only = outcomes_only;
    options.cancelled = &cancelled;
    const Budget budget(options.time_limit, &cancelled);
    for (const Verdict& verdict :
         decide_levels(*observed, PredicateReads(), observable_levels(), budget, options)) {
      if (verdict.outcome != Outcome::Undecided) continue;  // Needed no search.
      EXPECT_EQ(verdict.reason, "interrupted") << info(verdict.level).name;
    }
  }
}

TEST(OneLevelTest, AnOrderProvesWeakerLevelsWithBeginsJustBeforeCommits) {
  Verdict serial{.level = Level::Serializable, .outcome = Outcome::Holds};
  serial.order = {TxnId{1}, TxnId{0}};
  const Verdict si = weakened(serial, Level::Si);
  EXPECT_EQ(si.level, Level::Si);
  EXPECT_EQ(si.order, serial.order);
  ASSERT_EQ(si.schedule.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(si.schedule[i].txn, serial.order[i / 2]);
    EXPECT_EQ(si.schedule[i].commit, i % 2 == 1);
  }
  EXPECT_TRUE(weakened(serial, Level::RepeatableRead).schedule.empty());
}

}  // namespace
}  // namespace ouro
