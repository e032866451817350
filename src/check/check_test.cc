// The engines against the oracle: every small history and thousands of random ones.

#include "ouro/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/verdict_checks.h"

namespace ouro::oracle {
namespace {

// Of histories with predicate reads the edges are for certify() to judge: complaint() knows only
// items that are written down. And a level is asked alone for its proof: if a stronger one answers
// for it, the schedule of that does not say whose absence a scan saw.
std::string complaint_about_outcome(const History& history, const LevelSet& allowed,
                                    const Verdict& verdict) {
  const Outcome right = allowed.has(verdict.level) ? Outcome::Holds : Outcome::Violated;
  if (verdict.outcome != right) return "the oracle disagrees";
  const auto alone = check(history, verdict.level);
  if (!alone.ok()) return alone.error().to_string();
  return alone->outcome == right ? complaint_about_proof(history, *alone) : "another outcome alone";
}

// What is wrong with the engines' verdicts on `history`, all levels; "" if nothing.
std::string complaint_at_any_level(const History& history, const CheckOptions& options = {}) {
  static const std::vector<Level> kLevels(kDecidableLevels.begin(), kDecidableLevels.end());
  const auto verdicts = check(history, kLevels, options);
  if (!verdicts.ok()) return verdicts.error().to_string();
  if (verdicts->size() != kLevels.size()) return "not one verdict a level";
  const LevelSet allowed = allowed_levels(history);
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const Verdict& verdict = (*verdicts)[i];
    const std::string wrong = verdict.level != kLevels[i] ? "a verdict for another level"
                              : history.has_predicate_reads()
                                  ? complaint_about_outcome(history, allowed, verdict)
                                  : complaint(history, allowed, verdict);
    if (!wrong.empty()) return std::string(info(kLevels[i]).name) + ": " + wrong;
  }
  return "";
}

TEST(EngineTest, DecidableLevelsAreThoseTheTestsExpect) {
  std::set<Level, InListOrder> found;
  for (const LevelInfo& level : levels()) {
    if (decidable(level.level)) found.insert(level.level);
  }
  EXPECT_EQ(found, kDecidableLevels);
}

History tiny() {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.write(b.key("x"), b.integer(1));
  return *std::move(b).freeze();
}

TEST(EngineTest, LevelsThatAreNotDecidableAreErrors) {
  for (const LevelInfo& level : levels()) {
    EXPECT_EQ(check(tiny(), level.level).ok(), decidable(level.level)) << level.name;
  }
}

TEST(EngineTest, ANegativeClockDriftIsAnError) {
  for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps, Evidence::Versions}) {
    const auto verdict =
        check(tiny(), Level::StrictSerializable, {.clock_drift = -1, .evidence = evidence});
    ASSERT_FALSE(verdict.ok());
    EXPECT_NE(verdict.error().what.find("clock_drift is -1"), std::string::npos);
  }
}

// As native text, which can say all.
std::string text(const History& history) {
  std::string out;
  return print_history(history, Format::Native, out).ok() ? out : "cannot be written";
}

// The engines at every level of all histories of some shapes.
void expect_agreement(std::span<const Shape> shapes) {
  for (const Shape& shape : shapes) {
    const std::size_t count = for_each_history(shape, [](const History& history) {
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(complaint_at_any_level(history), "") << text(history);
    });
    EXPECT_GT(count, kSlowdown == 1 ? 1000u : 100u);
  }
}

TEST(EngineTest, AgreesWithTheOracleOnAllSmallHistories) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 3, .stride = kSlowdown == 1 ? 1u : 50u},
      {.txns = 2, .ops = 3, .keys = 2, .sessions = 2, .stride = kSlowdown},
      {.txns = 4, .ops = 2, .keys = 2, .sessions = 2, .stride = 53 * kSlowdown},
  };
  expect_agreement(kShapes);
}

TEST(EngineTest, AgreesWithTheOracleOnSmallHistoriesWithCompareAndSet) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 1, .keys = 1, .sessions = 3, .stride = 1, .cas = true},
      {.txns = 2, .ops = 2, .keys = 2, .sessions = 2, .stride = kSlowdown, .cas = true},
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 1009 * kSlowdown, .cas = true},
  };
  expect_agreement(kShapes);
}

TEST(EngineTest, AgreesWithTheOracleOnSmallHistoriesWithRepeatedValues) {
  const Shape kShapes[] = {
      {.txns = 4, .ops = 1, .keys = 1, .sessions = 3, .stride = 1, .values = 2},
      {.txns = 2, .ops = 2, .keys = 2, .sessions = 2, .stride = kSlowdown, .values = 2},
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 3, .stride = 101 * kSlowdown, .values = 2},
      {.txns = 3, .ops = 2, .keys = 2, .sessions = 2, .stride = 1009 * kSlowdown, .values = 3},
      {.txns = 2, .ops = 2, .keys = 1, .sessions = 2, .stride = 1, .cas = true, .values = 2},
  };
  expect_agreement(kShapes);
}

TEST(EngineTest, AgreesWithTheOracleOnSmallHistoriesWithScans) {
  const Shape kShapes[] = {
      {.txns = 3, .ops = 1, .keys = 2, .sessions = 3, .stride = 1, .values = 2, .scans = true},
      {.txns = 2,
       .ops = 2,
       .keys = 2,
       .sessions = 2,
       .stride = kSlowdown,
       .values = 2,
       .scans = true},
      {.txns = 3,
       .ops = 2,
       .keys = 2,
       .sessions = 3,
       .stride = 2003 * kSlowdown,
       .values = 2,
       .scans = true},
      {.txns = 2,
       .ops = 2,
       .keys = 2,
       .sessions = 2,
       .stride = 29 * kSlowdown,
       .values = 3,
       .scans = true},
  };
  expect_agreement(kShapes);
}

TEST(EngineTest, AgreesWithTheOracleOnRandomHistoriesWithRepeatedValues) {
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, repeating_shape(seed));
    ASSERT_EQ(complaint_at_any_level(history), "") << "seed " << seed << "\n" << to_string(history);
  }
}

TEST(EngineTest, AgreesWithTheOracleIfTheSearchFindsWhatReadsReturned) {
  CheckOptions options;
  options.search.sources = SearchOptions::Sources::Choices;
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, repeating_shape(seed));
    ASSERT_EQ(complaint_at_any_level(history, options), "") << "seed " << seed << "\n"
                                                            << to_string(history);
  }
  for (const bool cas : {false, true}) {
    const Shape shape{.txns = 3,
                      .ops = 2,
                      .keys = 2,
                      .sessions = 2,
                      .stride = (cas ? 5003 : 503) * kSlowdown,
                      .cas = cas,
                      .values = 2};
    const std::size_t count = for_each_history(shape, [&](const History& history) {
      if (HasFatalFailure()) return;
      ASSERT_EQ(complaint_at_any_level(history, options), "") << to_string(history);
    });
    EXPECT_GT(count, 100 / kSlowdown);
  }
}

TEST(EngineTest, AgreesWithTheOracleOnRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 20'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    ASSERT_EQ(complaint_at_any_level(history), "") << "seed " << seed << "\n" << to_string(history);
  }
}

TEST(EngineTest, OutcomesAloneAreThoseOfTheVerdicts) {
  const std::vector<Level> all(kDecidableLevels.begin(), kDecidableLevels.end());
  for (std::uint64_t seed = 1; seed <= 5'000 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    std::vector<Level> asked;  // All levels or some, in either order.
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (seed % 2 == 0 || (seed * 2654435761u >> i) % 2 == 0) asked.push_back(all[i]);
    }
    if (seed % 3 == 0) std::reverse(asked.begin(), asked.end());
    const auto verdicts = check(history, asked, {.outcomes_only = true});
    ASSERT_TRUE(verdicts.ok());
    ASSERT_EQ(verdicts->size(), asked.size());
    const LevelSet allowed = allowed_levels(history);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ((*verdicts)[i].level, asked[i]);
      ASSERT_EQ((*verdicts)[i].outcome, allowed.has(asked[i]) ? Outcome::Holds : Outcome::Violated)
          << "seed " << seed << " " << info(asked[i]).name << "\n"
          << to_string(history);
    }
  }
}

// x and y are 0 at first; one transaction writes x=1 and y=2, another scans both and gets `found`.
History with_scan(std::vector<std::pair<const char*, std::int64_t>> found) {
  HistoryBuilder b;
  b.default_initial(b.integer(0));
  b.begin_txn(b.session("a"));
  b.write(b.key("x"), b.integer(1));
  b.write(b.key("y"), b.integer(2));
  b.begin_txn(b.session("b"));
  std::vector<KeyVersion> rows;
  for (const auto& [key, value] : found) rows.push_back({b.key(key), b.integer(value)});
  b.scan(b.text("x"), b.text("y"), {.rows = rows});
  return *std::move(b).freeze();
}

TEST(EngineTest, WhatOneScanReturnsHasNoOrder) {
  for (const History& history :
       {with_scan({{"x", 0}, {"y", 2}}), with_scan({{"y", 2}, {"x", 0}})}) {
    for (const Level level : {Level::ReadCommitted, Level::ReadAtomic}) {
      const auto verdict = check(history, level);
      ASSERT_TRUE(verdict.ok());
      EXPECT_EQ(verdict->outcome == Outcome::Holds, level == Level::ReadCommitted);
      const auto certified = certify(history, make_certificate(history, *verdict));
      ASSERT_TRUE(certified.ok());
      EXPECT_TRUE(certified->accepted) << certified->reason;
    }
  }
}

TEST(EngineTest, StoresOfRangesKeepTheirLevel) {
  for (const WorkloadKind workload : {WorkloadKind::RangeBalanced, WorkloadKind::RangeQueryHeavy,
                                      WorkloadKind::RangeInsertDeleteHeavy}) {
    for (const Level level : kDecidableLevels) {
      if (level == Level::RepeatableRead) continue;  // There is no such store.
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        GenerateOptions options;
        options.store = level;
        options.workload = workload;
        options.seed = seed;
        options.txns = 100;
        options.clocks = true;
        const auto history = generate(options);
        ASSERT_TRUE(history.ok()) << history.error().to_string();
        const auto verdict = check(*history, level);
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        EXPECT_EQ(verdict->outcome, Outcome::Holds) << info(level).name << ", seed " << seed;
      }
    }
  }
}

// Every way to search, each on histories of its own. Saturation is on from the start, as small
// histories have too few conflicts for its usual threshold.
TEST(EngineTest, AgreesWithTheOracleHoweverItSearches) {
  using Phase = SearchOptions::Phase;
  using Branching = SearchOptions::Branching;
  std::vector<SearchOptions> ways;
  for (const Phase phase : {Phase::Order, Phase::Saved, Phase::Fixed}) {
    for (const Branching branching : {Branching::Earliest, Branching::Activity}) {
      for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
        ways.push_back({.chains = (bits & 1) != 0,
                        .on_demand = (bits & 2) != 0,
                        .saturation = (bits & 4) != 0,
                        .many = 0,
                        .phase = phase,
                        .branching = branching});
      }
    }
  }
  for (std::uint64_t seed = 1; seed <= 9'600 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    CheckOptions options;
    options.search = ways[seed % ways.size()];
    ASSERT_EQ(complaint_at_any_level(history, options), "") << "seed " << seed << "\n"
                                                            << to_string(history);
  }
}

}  // namespace
}  // namespace ouro::oracle
