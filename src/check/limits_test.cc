// Checks that are interrupted at some moment are undecided, or right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/verdict_checks.h"

namespace ouro::oracle {
namespace {

using Clock = std::chrono::steady_clock;

// Sets a flag a given time after in() was called, on a thread of its own.
class Interrupter {
 public:
  Interrupter() : thread_([this] { run(); }) {}
  ~Interrupter() {
    end_ = true;
    thread_.join();
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  const std::atomic<bool>* in(std::chrono::nanoseconds delay) {
    flag_ = false;
    at_ = (Clock::now() + delay).time_since_epoch().count();
    return &flag_;
  }
  // The flag stays as it is until the next in().
  void rest() { at_ = kNever; }

 private:
  static constexpr Clock::rep kNever = 0;

  void run() {
    while (!end_) {
      const Clock::rep at = at_;
      if (at == kNever || Clock::now().time_since_epoch().count() < at) continue;
      if (at_.exchange(kNever) == at) flag_ = true;
    }
  }

  std::atomic<bool> flag_{false}, end_{false};
  std::atomic<Clock::rep> at_{kNever};
  std::thread thread_;
};

struct Outcomes {
  std::size_t decided = 0;
  std::size_t undecided = 0;
};

// Checks `history` at all levels and interrupts it at a random moment of the time that a whole
// check takes. Returns what is wrong with a verdict by `complaint`; "" if nothing.
template <class Complaint>
std::string interrupted(const History& history, Interrupter& interrupter, std::mt19937_64& random,
                        Outcomes& outcomes, const Complaint& complaint) {
  static const std::vector<Level> kLevels(kDecidableLevels.begin(), kDecidableLevels.end());
  CheckOptions options;
  const auto start = Clock::now();
  static_cast<void>(check(history, kLevels, options));
  const auto whole = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  const auto delay = random() % static_cast<std::uint64_t>(whole.count());
  // Now and then it is interrupted before it begins, or never, so that both outcomes occur however
  // slow the machine is.
  const std::atomic<bool> always{true};
  const std::uint64_t when = random() % 32;
  options.cancelled = when == 0   ? &always
                      : when == 1 ? nullptr
                                  : interrupter.in(std::chrono::nanoseconds(delay));
  const auto verdicts = check(history, kLevels, options);
  interrupter.rest();
  if (!verdicts.ok()) return verdicts.error().to_string();
  for (const Verdict& verdict : *verdicts) {
    const bool undecided = verdict.outcome == Outcome::Undecided;
    ++(undecided ? outcomes.undecided : outcomes.decided);
    const std::string wrong = !undecided ? complaint(verdict)
                              : verdict.reason != "interrupted"
                                  ? "undecided because of '" + verdict.reason + "'"
                              : !verdict.anomalies.empty() ? "undecided with an anomaly"
                                                           : "";
    if (!wrong.empty()) return std::string(info(verdict.level).name) + ": " + wrong;
  }
  return "";
}

// Each of many writes may be what the compare-and-set read, and each must be refuted on its own. As
// cases that is more than is allowed; the search has no such limit.
TEST(LimitsTest, TooManyWaysToReadAreUndecided) {
  HistoryBuilder builder;
  builder.default_initial(Value::small(0));
  const KeyId x = builder.key("x");
  for (std::int64_t i = 1; i <= 2500; ++i) {
    builder.begin_txn(builder.session("a"));
    builder.write(x, Value::small(i));
  }
  builder.begin_txn(builder.session("a"));
  builder.cas(x, Value::small(2500), Value::small(2501), false);
  const History history = *std::move(builder).freeze();
  CheckOptions options;
  options.search.sources = SearchOptions::Sources::Cases;
  const auto verdict = check(history, Level::SessionSerializable, options);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Undecided);
  EXPECT_THAT(verdict->reason, testing::StartsWith("1000 ways tried to say what open reads "
                                                   "returned, like that at "));
  EXPECT_EQ(check(history, Level::SessionSerializable)->outcome, Outcome::Violated);
  EXPECT_EQ(check(history, Level::Serializable)->outcome, Outcome::Holds);
}

TEST(LimitsTest, AnInterruptedCheckIsUndecidedOrAgreesWithTheOracle) {
  Interrupter interrupter;
  Outcomes outcomes;
  for (std::uint64_t seed = 1; seed <= 4'000 / kSlowdown; ++seed) {
    std::mt19937_64 random(seed);
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    ASSERT_EQ(
        interrupted(history, interrupter, random, outcomes,
                    [&](const Verdict& verdict) { return complaint(history, allowed, verdict); }),
        "")
        << "seed " << seed << "\n"
        << to_string(history);
  }
  EXPECT_GT(outcomes.decided, 0u);
  EXPECT_GT(outcomes.undecided, 0u);
}

// A limit of work is met at the same place each time, so this goes through one after the other.
TEST(LimitsTest, WhateverTheWorkLimitACheckIsUndecidedOrAgreesWithTheOracle) {
  const std::vector<Level> levels(kDecidableLevels.begin(), kDecidableLevels.end());
  Outcomes outcomes;
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    CheckOptions options;
    for (options.work_limit = 1 + seed % 16; options.work_limit < 50'000;
         options.work_limit += options.work_limit / 8 + 1) {
      for (const Level level : levels) {
        const auto verdict = check(history, level, options);
        ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
        const bool undecided = verdict->outcome == Outcome::Undecided;
        ++(undecided ? outcomes.undecided : outcomes.decided);
        ASSERT_EQ(undecided ? "" : complaint(history, allowed, *verdict), "")
            << "seed " << seed << ", " << options.work_limit << " steps\n"
            << to_string(history);
      }
    }
  }
  EXPECT_GT(outcomes.decided, 0u);
  EXPECT_GT(outcomes.undecided, 0u);
}

TEST(LimitsTest, AnInterruptedCheckOfManyTransactionsIsUndecidedOrAgreesWithAWholeOne) {
  Interrupter interrupter;
  Outcomes outcomes;
  for (std::uint64_t seed = 1; seed <= 100 / kSlowdown; ++seed) {
    std::mt19937_64 random(seed);
    GenerateOptions options;
    options.txns = 300 + random() % 2'000;
    options.keys = 200 + random() % 500;
    options.seed = seed;
    options.store = seed % 2 == 0 ? Level::Si : Level::StrictSerializable;
    const auto history = generate(options);
    ASSERT_TRUE(history.ok());
    ASSERT_EQ(interrupted(*history, interrupter, random, outcomes,
                          [&](const Verdict& verdict) -> std::string {
                            const auto whole = check(*history, verdict.level);
                            if (!whole.ok()) return whole.error().to_string();
                            return whole->outcome == verdict.outcome ? "" : "another verdict";
                          }),
              "")
        << "seed " << seed;
  }
  EXPECT_GT(outcomes.decided, 0u);
  EXPECT_GT(outcomes.undecided, 0u);
}

}  // namespace
}  // namespace ouro::oracle
