// Threads make verdicts faster, never different.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/engine_levels.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

// The verdicts at all levels with their certificates, as text.
std::string all_verdicts(const History& history, unsigned threads) {
  const std::vector<Level> levels(kDecidableLevels.begin(), kDecidableLevels.end());
  const auto verdicts = check(history, levels, {.threads = threads});
  if (!verdicts.ok()) return verdicts.error().to_string();
  std::string text;
  for (const Verdict& verdict : *verdicts) {
    EXPECT_NE(verdict.outcome, Outcome::Undecided) << info(verdict.level).name;
    text += std::string(info(verdict.level).name) + " " + std::string(name(verdict.outcome)) + "\n";
    for (const std::uint64_t count : verdict.counts) text += " " + std::to_string(count);
    text += print_certificate(make_certificate(history, verdict));
  }
  return text;
}

// The histories are large enough for several threads, and for many ranges of keys.
TEST(ThreadsTest, VerdictsAndCertificatesDoNotDependOnThem) {
  for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
    for (const Level store : {Level::ReadCommitted, Level::Causal, Level::StrictSerializable}) {
      if (kSlowdown > 1 && store == Level::Causal) continue;
      GenerateOptions options;
      options.workload = workload;
      options.store = store;
      options.txns = 12'000;
      options.keys = 9'000;
      options.abort_share = 0.05;
      options.unknown_share = 0.05;
      const auto history = generate(options);
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      ASSERT_GT(history->op_count(), 80'000u);
      const std::string one = all_verdicts(*history, 1);
      for (const unsigned threads : {2u, 5u}) {
        if (kSlowdown > 1 && threads == 2) continue;
        EXPECT_EQ(all_verdicts(*history, threads), one)
            << info(store).name << ", " << threads << " threads";
      }
    }
  }
}

// The outcome at each level when the work is limited to `work` steps, as text.
std::string all_outcomes(const History& history, std::uint64_t work, CheckOptions options) {
  const std::vector<Level> levels(kDecidableLevels.begin(), kDecidableLevels.end());
  options.work_limit = work;
  const auto verdicts = check(history, levels, options);
  if (!verdicts.ok()) return verdicts.error().to_string();
  std::string text;
  for (const Verdict& verdict : *verdicts) {
    text += std::string(info(verdict.level).name) + " " + std::string(name(verdict.outcome)) + " " +
            verdict.reason + "\n";
  }
  return text;
}

TEST(ThreadsTest, WhatAWorkLimitLeavesUndecidedDoesNotDependOnThem) {
  for (const Level store : {Level::ReadCommitted, Level::Causal, Level::StrictSerializable}) {
    GenerateOptions options;
    options.store = store;
    options.txns = 12'000 / kSlowdown;
    options.keys = 2'000;
    options.unknown_share = 0.05;
    options.sessions = 40;
    const auto history = generate(options);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    std::size_t undecided = 0;
    for (std::uint64_t work = 100'000 / kSlowdown; work < 100'000'000; work *= 3) {
      for (const bool outcomes_only : {false, true}) {
        const auto with = [&](unsigned threads) {
          return all_outcomes(*history, work, {.threads = threads, .outcomes_only = outcomes_only});
        };
        const std::string one = with(1);
        undecided += one.find("work limit reached") != std::string::npos ? 1 : 0;
        EXPECT_EQ(with(4), one) << info(store).name << ", " << work << " steps";
      }
    }
    EXPECT_GT(undecided, 2u);
  }
}

}  // namespace
}  // namespace ouro::oracle
