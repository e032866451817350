// Histories of the simulated store with values that repeat and deletes that leave nothing: what its
// timestamps allow is allowed by observation, too.

#include "tests/repeated_values.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/engine_levels.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

std::string refused(const History& history, const Verdict& verdict) {
  const auto answer = certify(history, make_certificate(history, verdict));
  if (!answer.ok()) return answer.error().to_string();
  return answer->accepted ? "" : answer->reason;
}

TEST(RepeatedValuesTest, WhatTimestampsAllowIsAllowedByObservation) {
  std::map<Outcome, int> outcomes;
  const std::uint64_t seeds = kSlowdown == 1 ? 8 : 4;
  int by_both = 0;
  int disproved = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    GenerateOptions options;
    options.seed = seed;
    options.workload = seed % 2 == 0 ? WorkloadKind::RangeBalanced : WorkloadKind::General;
    options.store = seed % 3 == 0 ? Level::SessionSi : Level::StrictSerializable;
    options.txns = 30 + seed;
    options.keys = 6 + seed % 20;
    options.ops_per_txn = 4;
    options.timestamps = true;
    if (seed % 4 == 0) options.faults = {{.fault = Fault::StaleRead, .rate = 0.02}};
    if (seed % 4 == 1) options.faults = {{.fault = Fault::ReadSkew, .rate = 0.01}};
    const auto made = generate(options);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    const Repeats repeats{.distinct = 2 + seed % 5, .plain_deletes = seed % 8 < 6};
    const History history = with_repeats(*made, repeats);
    for (const Level level : {Level::SessionSi, Level::StrongSi, Level::Serializable,
                              Level::SessionSerializable}) {
      const auto stamped = check(history, level, {.evidence = Evidence::Timestamps});
      ASSERT_TRUE(stamped.ok()) << stamped.error().to_string();
      const auto observed = check(history, level, {.work_limit = 10'000'000});
      ASSERT_TRUE(observed.ok()) << observed.error().to_string();
      ++outcomes[observed->outcome];
      const std::string where =
          "seed " + std::to_string(seed) + ' ' + std::string(info(level).name);
      EXPECT_EQ(refused(history, *stamped), "") << where;
      if (observed->outcome == Outcome::Undecided) continue;
      EXPECT_EQ(refused(history, *observed), "") << where;
      if (stamped->outcome == Outcome::Holds) {
        EXPECT_EQ(observed->outcome, Outcome::Holds) << where;
        ++by_both;
      } else {
        disproved += observed->outcome == Outcome::Violated ? 1 : 0;
      }
    }
  }
  EXPECT_GT(by_both, static_cast<int>(seeds));
  EXPECT_GT(disproved, 0);
  EXPECT_LT(outcomes[Outcome::Undecided], static_cast<int>(seeds));
}

// Most reads of these may have returned one of ten versions.
TEST(RepeatedValuesTest, StoresAreDecidedAtTheLevelsWithoutASearch) {
  const Level weak[] = {Level::ReadCommitted, Level::ReadAtomic, Level::Causal};
  for (const Level store : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal, Level::Prefix,
                            Level::ParallelSi, Level::SessionSi, Level::StrictSerializable}) {
    for (std::uint64_t seed = 1; seed <= (kSlowdown == 1 ? 4 : 1); ++seed) {
      GenerateOptions options;
      options.seed = seed;
      options.store = store;
      options.txns = 300;
      options.keys = 20;
      options.duplicates = true;
      const auto history = generate(options);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      for (const Level level : weak) {
        if (!implies(store, level)) continue;
        const auto verdict = check(*history, level);
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        EXPECT_EQ(verdict->outcome, Outcome::Holds)
            << info(store).name << ", seed " << seed << ", " << info(level).name;
        EXPECT_EQ(refused(*history, *verdict), "");
      }
    }
  }
}

// These stores keep no session order, so a search for session-si, which would imply read-committed,
// fails late. A guess is enough.
TEST(RepeatedValuesTest, AGuessComesBeforeASearch) {
  for (const Level store : {Level::Si, Level::Serializable}) {
    GenerateOptions options;
    options.seed = 6;
    options.store = store;
    options.txns = 1'000;
    options.keys = 20;
    options.duplicates = true;
    const auto history = generate(options);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const auto verdict = check(*history, Level::ReadCommitted, {.work_limit = 100'000'000});
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, Outcome::Holds) << info(store).name;
    EXPECT_EQ(refused(*history, *verdict), "") << info(store).name;
  }
}

TEST(RepeatedValuesTest, ParallelSiIsDecidedWhereKeysAreMany) {
  GenerateOptions options;
  options.store = Level::ParallelSi;
  options.txns = 1'000;
  options.keys = 200;
  options.duplicates = true;
  const auto history = generate(options);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto verdict = check(*history, Level::ParallelSi, {.work_limit = 1'000'000'000});
  ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
  EXPECT_EQ(verdict->outcome, Outcome::Holds);
  EXPECT_EQ(refused(*history, *verdict), "");
}

// Faults are planted while the store runs, so version orders show them, whatever values repeat.
TEST(RepeatedValuesTest, FaultsAreDecidedByVersionOrders) {
  std::map<Outcome, int> outcomes;
  for (const Fault fault : {Fault::LostUpdate, Fault::ReadSkew, Fault::LongFork, Fault::WriteSkew,
                            Fault::StaleRead, Fault::FracturedRead}) {
    for (std::uint64_t seed = 1; seed <= (kSlowdown == 1 ? 5 : 1); ++seed) {
      GenerateOptions options;
      options.seed = seed;
      options.txns = 120;
      options.keys = 15;
      options.ops_per_txn = 4;
      options.version_orders = true;
      options.duplicates = true;
      options.faults = {{.fault = fault, .rate = 0.05}};
      const auto history = generate(options);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      for (const Level level : {Level::Causal, Level::SessionSi, Level::SessionSerializable}) {
        const auto verdict = check(*history, level, {.evidence = Evidence::Versions});
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        const std::string where = std::string(name(fault)) + ", seed " + std::to_string(seed) +
                                  ", " + std::string(info(level).name);
        EXPECT_NE(verdict->outcome, Outcome::Undecided) << where;
        EXPECT_EQ(refused(*history, *verdict), "") << where;
        ++outcomes[verdict->outcome];
      }
    }
  }
  EXPECT_GT(outcomes[Outcome::Violated], 0);
  EXPECT_GT(outcomes[Outcome::Holds], 0);
}

}  // namespace
}  // namespace ouro
