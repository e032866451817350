// Levels for which another one is asked first: those that ignore sessions, and those that
// session-si implies.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"
#include "tests/verdict_checks.h"

namespace ouro::oracle {
namespace {

// A level, and the one that is asked first.
constexpr std::array<std::pair<Level, Level>, 5> kTwins{{
    {Level::Serializable, Level::SessionSerializable},
    {Level::Si, Level::SessionSi},
    {Level::Gsi, Level::PrefixConsistentSi},
    {Level::Prefix, Level::SessionSi},
    {Level::ParallelSi, Level::SessionSi},
}};

// Each level is asked alone, so that no other level answers for it. With short turns the first way
// seldom answers.
TEST(NoSessionsTest, VerdictsAndProofsAreRightWhetherTheTwinHoldsOrNotOrIsUnknown) {
  // Whether the twin was allowed, and the level: how often.
  std::map<std::pair<bool, bool>, int> seen;
  for (std::uint64_t seed = 1; seed <= 3'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    CheckOptions options;
    constexpr std::array<std::uint64_t, 4> kTurns = {0, 1, 30, 1000};
    options.search.first_turn = kTurns[seed % kTurns.size()];
    for (const auto& [level, twin] : kTwins) {
      const auto verdict = check(history, level, options);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      ASSERT_EQ(complaint(history, allowed, *verdict), "")
          << info(level).name << ", seed " << seed << "\n"
          << to_string(history);
      ASSERT_EQ(complaint_about_proof(history, *verdict), "") << "seed " << seed << "\n"
                                                              << to_string(history);
      ++seen[{allowed.has(twin), allowed.has(level)}];
    }
  }
  EXPECT_EQ(seen.size(), 3u) << "both hold, both are violated, or only the twin is";
}

TEST(NoSessionsTest, SoTheyAreIfTheSearchFindsWhatReadsReturned) {
  for (std::uint64_t seed = 1; seed <= 2'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, repeating_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    CheckOptions options;
    options.search.sources = SearchOptions::Sources::Choices;
    options.search.first_turn = seed % 2;
    for (const auto& [level, twin] : kTwins) {
      const auto verdict = check(history, level, options);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      ASSERT_EQ(complaint(history, allowed, *verdict), "")
          << info(level).name << ", seed " << seed << "\n"
          << to_string(history);
      ASSERT_EQ(complaint_about_proof(history, *verdict), "") << "seed " << seed << "\n"
                                                              << to_string(history);
    }
  }
}

GenerateOptions blind_writes(std::uint64_t seed) {
  GenerateOptions options;
  options.workload = WorkloadKind::BlindWRw;
  options.keys = 2000;
  options.sessions = 48;
  options.txns = 8000;
  options.seed = seed;
  return options;
}

// In counted work, which is the same everywhere. The limit is a third above one that is enough for
// the twin, which itself is at most by half too high.
TEST(NoSessionsTest, ALevelTakesAboutTheWorkOfItsTwinIfThatHolds) {
  for (const std::uint64_t seed : {1, 2}) {
    GenerateOptions options = blind_writes(seed);
    options.store = Level::SessionSi;
    const History history = *generate(options);
    for (const auto& [level, twin] : kTwins) {
      std::uint64_t enough = 1'000'000;
      while (check(history, twin, {.work_limit = enough})->outcome == Outcome::Undecided) {
        enough += enough / 2;
      }
      const auto verdict = check(history, level, {.work_limit = enough + enough / 3});
      EXPECT_EQ(verdict->outcome, Outcome::Holds) << info(level).name << ", seed " << seed;
      EXPECT_EQ(complaint_about_proof(history, *verdict), "");
    }
  }
}

TEST(NoSessionsTest, WhatOnlyOldSnapshotsBreakIsDecidedToo) {
  constexpr std::uint64_t kWork = 100'000'000;  // About a second.
  for (const std::uint64_t seed : {1, 2}) {
    GenerateOptions options = blind_writes(seed);
    options.store = Level::Si;
    const History history = *generate(options);
    EXPECT_EQ(check(history, Level::SessionSi, {.work_limit = kWork})->outcome, Outcome::Violated);
    const auto verdict = check(history, Level::Si, {.work_limit = kWork});
    EXPECT_EQ(verdict->outcome, Outcome::Holds) << "seed " << seed;
    EXPECT_EQ(complaint_about_proof(history, *verdict), "");
  }
}

}  // namespace
}  // namespace ouro::oracle
