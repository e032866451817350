// Predicate reads in a stream: whatever the order of arrival, in the end it says of them what the
// check of the whole says.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "ouro/format.h"
#include "ouro/stream.h"
#include "tests/random_predicates.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using std::chrono::milliseconds;

constexpr Level kLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                             Level::SessionSerializable};

std::string native(const History& history) {
  std::string out;
  EXPECT_TRUE(print_history(history, Format::Native, out).ok());
  return out;
}

std::string scratch_folder() {
  return testing::TempDir() + "ouro_stream_predicates_" + std::to_string(getpid());
}

Trial trial_of(std::uint64_t seed) {
  return random_trial(random_predicates(seed, mixed_predicates(seed)), seed,
                      {.reach = 1 + seed % 12,
                       .max_batch = 1 + seed / 3 % 6,
                       .max_wait_ms = static_cast<std::int64_t>(seed % 5)});
}

class StreamPredicatesTest : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove_all(scratch_folder());
    std::filesystem::remove(scratch_folder() + ".checkpoint");
  }
};

TEST_F(StreamPredicatesTest, AreJudgedAsCheckDoesHoweverLateTransactionsCome) {
  std::uint64_t mismatches = 0;
  std::uint64_t stragglers = 0;
  std::uint64_t flips = 0;
  for (std::uint64_t seed = 1; seed <= 6'000 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    for (const Level level : kLevels) {
      StreamOptions options;
      options.level = level;
      options.timeout = seed % 3 == 0 ? std::chrono::hours(1) : milliseconds(seed % 8);
      StreamSummary summary;
      ASSERT_EQ(complaint(trial, options, &summary), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(trial.whole);
      mismatches += summary.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)];
      stragglers += summary.stragglers;
      flips += summary.flips;
    }
  }
  EXPECT_GT(mismatches, 5'000 / kSlowdown);
  EXPECT_GT(stragglers, 5'000 / kSlowdown);
  EXPECT_GT(flips, 2'000 / kSlowdown);
}

TEST_F(StreamPredicatesTest, AreJudgedTheSameWhenNothingStaysInMemory) {
  std::uint64_t recalled = 0;
  for (std::uint64_t seed = 1; seed <= 500 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    StreamOptions options;
    options.level = kLevels[seed % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 3 == 0 ? 8'000 + seed % 16 * 1'000 : 1;
    options.folder = scratch_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed << "\n"
                                                       << native(trial.whole);
    EXPECT_EQ(summary.lost_stragglers, 0);
    recalled += summary.recalled;
  }
  EXPECT_GT(recalled, 1'000 / kSlowdown);
}

TEST_F(StreamPredicatesTest, SurviveCrashes) {
  for (std::uint64_t seed = 1; seed <= 500 / kSlowdown; ++seed) {
    const Trial trial = trial_of(seed);
    StreamOptions options;
    options.level = kLevels[seed % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 4 == 0 ? 1 : 0;
    options.folder = scratch_folder();
    ASSERT_EQ(complaint_with_crashes(trial, options, seed, scratch_folder() + ".checkpoint"), "")
        << "seed " << seed << "\n"
        << native(trial.whole);
  }
}

}  // namespace
}  // namespace ouro::oracle
