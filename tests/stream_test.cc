// The stream against the check of whole histories: whatever the order of arrival, in the end both
// say the same.

#include "ouro/stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "format/format_testing.h"
#include "ouro/format.h"
#include "tests/engine_levels.h"
#include "tests/random_timeline.h"
#include "tests/stream_trial.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using std::chrono::milliseconds;

constexpr Level kLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                             Level::SessionSerializable};

// What is forgotten of real time does not come back from disk.
constexpr auto& kAllLevels = kSnapshotAndSerialLevels;

TimelineShape shape_of(std::uint64_t seed) {
  TimelineShape shape = mixed_timeline(seed);
  if (seed % 4 == 0) shape.txns *= 4;
  return shape;
}

Arrivals arrivals_of(std::uint64_t seed) {
  return {.reach = 1 + seed % 9,
          .max_batch = 1 + seed / 3 % 6,
          .max_wait_ms = static_cast<std::int64_t>(seed % 5)};
}

TEST(StreamTest, SaysInTheEndWhatCheckSaysWhenNothingTimesOut) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 6'000 / kSlowdown; ++seed) {
    const Trial trial =
        random_trial(random_timeline(seed, shape_of(seed)), seed, arrivals_of(seed));
    for (const Level level : kAllLevels) {
      StreamOptions options;
      options.level = level;
      options.clock_drift = seed % 3 == 0 ? 15 : 0;
      options.timeout = std::chrono::hours(2);
      ASSERT_EQ(complaint(trial, options), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(trial.whole);
    }
  }
}

TEST(StreamTest, SaysInTheEndWhatCheckSaysHoweverLateTransactionsCome) {
  std::uint64_t stragglers = 0;
  std::uint64_t flips = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 6'000 / kSlowdown; ++seed) {
    const Trial trial =
        random_trial(random_timeline(seed, shape_of(seed)), seed, arrivals_of(seed));
    for (const Level level : kAllLevels) {
      StreamOptions options;
      options.level = level;
      options.clock_drift = seed % 3 == 0 ? 15 : 0;
      options.timeout = milliseconds(seed % 8);
      StreamSummary summary;
      ASSERT_EQ(complaint(trial, options, &summary), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(trial.whole);
      stragglers += summary.stragglers;
      flips += summary.flips;
    }
  }
  EXPECT_GT(stragglers, 500 / kSlowdown);
  EXPECT_GT(flips, 500 / kSlowdown);
}

// With their numbers in their sessions, the transactions of a session arrive in any order.
TEST(StreamTest, SaysTheSameInWhateverOrderNumberedSessionsArrive) {
  std::uint64_t stragglers = 0;
  std::uint64_t inversions = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 6'000 / kSlowdown; ++seed) {
    const Trial trial = random_trial(with_numbers(random_timeline(seed, shape_of(seed)), seed),
                                     seed, arrivals_of(seed));
    for (const Level level : kAllLevels) {
      StreamOptions options;
      options.level = level;
      options.clock_drift = seed % 3 == 0 ? 15 : 0;
      options.timeout =
          seed % 3 == 0 ? milliseconds(std::chrono::hours(2)) : milliseconds(seed % 8);
      StreamSummary summary;
      ASSERT_EQ(complaint(trial, options, &summary), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(trial.whole);
      stragglers += summary.stragglers;
      inversions += summary.counts[static_cast<std::size_t>(AnomalyKind::SessionInversion)];
    }
  }
  EXPECT_GT(stragglers, 300 / kSlowdown);
  EXPECT_GT(inversions, 300 / kSlowdown);
}

// Initial values that are not null, differ between keys, are no numbers, or come late.
TEST(StreamTest, SaysTheSameOfInitialValues) {
  std::uint64_t stragglers = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 4'000 / kSlowdown; ++seed) {
    const Trial trial = random_trial(with_initials(random_timeline(seed, shape_of(seed)), seed),
                                     seed, arrivals_of(seed));
    for (const Level level : kLevels) {
      StreamOptions options;
      options.level = level;
      options.timeout = milliseconds(seed % 8);
      StreamSummary summary;
      ASSERT_EQ(complaint(trial, options, &summary), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(trial.whole);
      stragglers += summary.stragglers;
    }
  }
  EXPECT_GT(stragglers, 300 / kSlowdown);
}

std::string scratch_folder() { return scratch_folder_of("stream"); }

// So little memory that whatever can go to disk does, at every step: versions, reads and keys.
TEST(StreamTest, SaysTheSameWhenNothingStaysInMemory) {
  std::uint64_t spilled = 0;
  std::uint64_t recalled = 0;
  std::uint64_t keys_left = 0;
  std::uint64_t keys_back = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 400 / kSlowdown; ++seed) {
    TimelineShape shape = shape_of(seed);
    if (seed % 2 == 0) {  // Keys that nobody touches for a while.
      shape.keys = 10;
      shape.txns = 40;
      shape.last_stamp = 150;
    }
    History history = random_timeline(seed, shape);
    if (seed % 4 == 3) history = with_numbers(history, seed);
    const Trial trial = random_trial(history, seed, arrivals_of(seed));
    StreamOptions options;
    options.level = kLevels[seed / 2 % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = 1;
    options.folder = scratch_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed << "\n"
                                                       << native(trial.whole);
    spilled += summary.spilled;
    recalled += summary.recalled;
    keys_left += summary.keys_left;
    keys_back += summary.keys_back;
    EXPECT_EQ(summary.lost_stragglers, 0);
  }
  EXPECT_GT(spilled, 1'000 / kSlowdown);
  EXPECT_GT(recalled, 500 / kSlowdown);
  EXPECT_GT(keys_left, 2'000 / kSlowdown);
  EXPECT_GT(keys_back, 2'000 / kSlowdown);
  std::filesystem::remove_all(scratch_folder());
}

// A small memory limit, so that transactions arrive while a sweep is under way.
TEST(StreamTest, SaysTheSameWhileMemoryIsBeingSwept) {
  std::uint64_t spilled = 0;
  std::uint64_t recalled = 0;
  std::uint64_t keys_back = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 300 / kSlowdown; ++seed) {
    TimelineShape shape = shape_of(seed);
    if (seed % 3 == 0) shape.keys = 40;
    shape.txns = 60;
    shape.last_stamp = 120;
    const Trial trial = random_trial(random_timeline(seed, shape), seed,
                                     {.reach = 1 + seed % 30, .max_batch = 1 + seed % 3});
    StreamOptions options;
    options.level = kLevels[seed % 4];
    options.timeout = milliseconds(seed % 20);
    options.memory = 6'000 + seed % 16 * 1'000;
    options.folder = scratch_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed << "\n"
                                                       << native(trial.whole);
    spilled += summary.spilled;
    recalled += summary.recalled;
    keys_back += summary.keys_back;
  }
  EXPECT_GT(spilled, 500 / kSlowdown);
  EXPECT_GT(recalled, 100 / kSlowdown);
  EXPECT_GT(keys_back, 500 / kSlowdown);
  std::filesystem::remove_all(scratch_folder());
}

TEST(StreamTest, SaysTheSameOfInitialValuesWhenNothingStaysInMemory) {
  std::uint64_t recalled = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 400 / kSlowdown; ++seed) {
    TimelineShape shape = shape_of(seed);
    if (seed % 2 == 0) shape.keys = 10;
    shape.txns = 40;
    shape.last_stamp = 150;
    const Trial trial =
        random_trial(with_initials(random_timeline(seed, shape), seed), seed, arrivals_of(seed));
    StreamOptions options;
    options.level = kLevels[seed / 2 % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 3 == 0 ? 8'000 : 1;
    options.folder = scratch_folder();
    StreamSummary summary;
    ASSERT_EQ(complaint(trial, options, &summary), "") << "seed " << seed << "\n"
                                                       << native(trial.whole);
    recalled += summary.recalled;
    EXPECT_EQ(summary.lost_stragglers, 0);
  }
  EXPECT_GT(recalled, 500 / kSlowdown);
  std::filesystem::remove_all(scratch_folder());
}

// What is on disk is dropped so soon that many stragglers are lost. Then the stream may miss
// something, but all that it says is true.
TEST(StreamTest, NeverAccusesTheInnocentHoweverShortTheRetention) {
  std::uint64_t lost = 0;
  std::uint64_t violations = 0;
  std::uint64_t complete = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 1'500 / kSlowdown; ++seed) {
    TimelineShape shape = shape_of(seed);
    shape.txns = 20 + seed % 3 * 20;
    shape.last_stamp = 3 * static_cast<std::int64_t>(shape.txns);
    if (seed % 5 == 0) shape.keys = 12;
    History history = random_timeline(seed, shape);
    if (seed % 4 == 0) history = with_initials(history, seed);
    if (seed % 4 == 1) history = with_numbers(history, seed);
    const Trial trial = stretched(
        random_trial(history, seed,
                     {.reach = 1 + seed % 40, .max_batch = 1 + seed % 4, .max_wait_ms = 2}),
        1'000);
    StreamOptions options;
    options.level = kLevels[seed / 2 % 4];
    options.timeout = milliseconds(seed % 3 * 1'000);
    options.retention = std::chrono::seconds(1 + seed % 4 * 4);
    options.memory = seed % 3 == 0 ? 8'000 : 1;
    options.folder = scratch_folder();
    StreamSummary summary;
    const std::string wrong = complaint(trial, options, &summary);
    // Whoever asks for rows for the first time after something was dropped is refused.
    if (wrong.find("give a longer retention") != std::string::npos) continue;
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << native(trial.whole);
    lost += summary.lost_stragglers;
    complete += summary.lost_stragglers == 0 ? 1 : 0;
    for (const std::uint64_t count : summary.counts) violations += count;
  }
  EXPECT_GT(lost, 10'000 / kSlowdown);
  EXPECT_GT(violations, 30'000 / kSlowdown);
  EXPECT_GT(complete, 200 / kSlowdown);
  std::filesystem::remove_all(scratch_folder());
}

TEST(StreamTest, GoesOnAfterACrashAsIfThereWasNone) {
  const std::string file = scratch_folder() + ".checkpoint";
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 500 / kSlowdown; ++seed) {
    History history = random_timeline(seed, shape_of(seed));
    if (seed % 3 == 0) history = with_initials(history, seed);
    const Trial trial = random_trial(history, seed, arrivals_of(seed));
    StreamOptions options;
    options.level = kAllLevels[seed % kAllLevels.size()];
    options.timeout = milliseconds(seed % 8);
    options.memory = seed % 5 == 0 && seed % 7 < 2 ? 1 : 0;
    options.folder = scratch_folder();
    ASSERT_EQ(complaint_with_crashes(trial, options, seed, file), "") << "seed " << seed << "\n"
                                                                      << native(trial.whole);
  }
  std::filesystem::remove(file);
  std::filesystem::remove_all(scratch_folder());
}

TEST(StreamTest, GoesOnAfterACrashWithWhatIsOnDisk) {
  const std::string file = scratch_folder() + ".checkpoint";
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 200 / kSlowdown; ++seed) {
    TimelineShape shape = shape_of(seed);
    if (seed % 3 == 0) shape.keys = 20;
    History history = random_timeline(seed, shape);
    if (seed / 4 % 2 == 0) history = with_numbers(history, seed);
    const Trial trial = random_trial(history, seed, arrivals_of(seed));
    StreamOptions options;
    options.level = kLevels[seed % 4];
    options.timeout = milliseconds(seed % 8);
    options.memory = 1 + seed % 2 * 8'000;
    options.folder = scratch_folder();
    ASSERT_EQ(complaint_with_crashes(trial, options, seed, file), "") << "seed " << seed << "\n"
                                                                      << native(trial.whole);
  }
  std::filesystem::remove(file);
  std::filesystem::remove_all(scratch_folder());
}

}  // namespace
}  // namespace ouro::oracle
