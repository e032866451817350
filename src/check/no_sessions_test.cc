// Levels for which another one is asked first: those that ignore sessions, and those that
// session-si implies.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
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

// The history with its lines up to `far` places from where they were; each session's are in order.
History shuffled(const History& history, double far) {
  std::mt19937_64 random(1);
  std::vector<std::pair<double, SessionId>> lines;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const double moved = std::uniform_real_distribution<>(0, far)(random);
    lines.emplace_back(static_cast<double>(t) + moved, history.session(TxnId{t}));
  }
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::size_t> next(history.session_count(), 0);
  HistoryBuilder builder;
  builder.default_initial(history.default_initial());
  for (const auto& [_, session] : lines) {
    const TxnId txn = history.session_txns(session)[next[session.index()]++];
    builder.begin_txn(builder.session(history.session_name(session)));
    builder.status(history.status(txn));
    for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      builder.add(op.kind, builder.key(history.key_name(op.key)), op.value);
    }
  }
  return *std::move(builder).freeze();
}

// A store that gives old snapshots does nothing else wrong, so only the guess is put to the test.
TEST(NoSessionsTest, LinesThatAreNotInTheOrderOfCommitsAreNotBelieved) {
  constexpr std::uint64_t kWork = 200'000'000;  // About a second.
  GenerateOptions options = blind_writes(1);
  options.store = Level::Si;
  options.sessions = 24;
  const History history = *generate(options);
  for (const double far : {50, 1000}) {
    const History late = shuffled(history, far);
    for (const Level level : {Level::Serializable, Level::Si}) {
      const auto verdict = check(late, level, {.work_limit = kWork});
      EXPECT_EQ(verdict->outcome, Outcome::Holds) << info(level).name << ", " << far;
      EXPECT_EQ(complaint_about_proof(late, *verdict), "");
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
