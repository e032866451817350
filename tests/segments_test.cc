// Histories cut at quiet moments: what the segments say is what the whole says.

#include "ouro/check_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ouro/check.h"
#include "ouro/format.h"
#include "tests/files.h"
#include "tests/oracle.h"
#include "tests/random_batches.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using testing::HasSubstr;

constexpr Level kExact[] = {Level::StrongSi, Level::StrictSerializable};

class SegmentsTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  std::string write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  std::string write(const History& history) {
    EXPECT_TRUE(write_history(history, file_, Format::Native).ok());
    return file_;
  }
  // Options with segments as small as possible.
  static SegmentsOptions small(Level level) {
    SegmentsOptions options;
    options.level = level;
    options.threads = 1;
    options.least = 1;
    options.ahead = 1'000;
    return options;
  }
  static CheckedSegments checked(const std::string& path, const SegmentsOptions& options) {
    auto out = check_segments(path, options);
    if (out.ok()) return *std::move(out);
    ADD_FAILURE() << out.error().to_string();
    return {};
  }

  const std::string file_ = temporary("segments.jsonl");
};

struct Tally {
  int holds = 0;
  int violated = 0;
  int undecided = 0;
  int segments = 0;
};

class RandomSegments : public SegmentsTest {
 protected:
  // Checks histories of `shape` in segments and as a whole, which must not contradict each other.
  Tally compare(const BatchShape& shape, int count, std::int64_t drift = 0) {
    Tally tally;
    for (int seed = 1; seed <= count; ++seed) {
      const History history = random_batches(static_cast<std::uint64_t>(seed), shape);
      const std::string path = write(history);
      for (const Level level : kExact) {
        SegmentsOptions options = small(level);
        options.clock_drift = drift;
        options.piece_bytes = seed % 2 == 0 ? 100 : 1'000'000;
        const CheckedSegments parts = checked(path, options);
        const auto whole = check(history, level, {.clock_drift = drift});
        EXPECT_TRUE(whole.ok());
        tally.segments += static_cast<int>(parts.segments.size());
        const Outcome outcome = parts.verdict.outcome;
        ++(outcome == Outcome::Holds      ? tally.holds
           : outcome == Outcome::Violated ? tally.violated
                                          : tally.undecided);
        if (outcome == Outcome::Undecided || outcome == whole->outcome) continue;
        ADD_FAILURE() << "seed " << seed << ", " << info(level).name << ": segments say "
                      << name(outcome) << ", the whole " << name(whole->outcome) << "\n"
                      << slurp(path);
        return tally;
      }
    }
    return tally;
  }
};

constexpr int kHistories = 400;

TEST_F(RandomSegments, SayWhatTheWholeSays) {
  BatchShape shape;
  for (const bool snapshots : {false, true}) {
    shape.snapshots = snapshots;
    const Tally sound = compare(shape, kHistories);
    EXPECT_EQ(sound.undecided, 0);
    EXPECT_GT(sound.holds, kHistories);
    EXPECT_GT(sound.segments, 5 * kHistories);
  }
}

TEST_F(RandomSegments, FindWhatIsWrong) {
  BatchShape shape;
  shape.stale = 0.1;
  shape.stray = 0.03;
  shape.aborted = 0.1;
  for (const bool snapshots : {false, true}) {
    shape.snapshots = snapshots;
    const Tally tally = compare(shape, kHistories);
    EXPECT_EQ(tally.undecided, 0);
    EXPECT_GT(tally.violated, kHistories / 2);
    EXPECT_GT(tally.holds, kHistories / 10);
  }
}

TEST_F(RandomSegments, AreRightWithDriftingClocks) {
  BatchShape shape;
  shape.stale = 0.05;
  for (const std::int64_t drift : {3, 40, 70, 1000}) {
    EXPECT_EQ(compare(shape, kHistories / 3, drift).undecided, 0) << drift;
  }
}

TEST_F(RandomSegments, AreRightWhereNothingIsQuiet) {
  BatchShape shape;
  shape.overlap = 0.3;
  shape.stale = 0.03;
  EXPECT_EQ(compare(shape, kHistories).undecided, 0);
}

TEST_F(RandomSegments, AreRightWithUnknownOutcomes) {
  BatchShape shape;
  shape.unknown = 0.2;
  for (const double ended : {0.0, 0.5, 1.0}) {
    for (const double stale : {0.0, 0.05}) {
      shape.ended = ended;
      shape.stale = stale;
      const Tally tally = compare(shape, kHistories);
      EXPECT_LT(tally.undecided, kHistories / 10) << ended << " " << stale;
    }
  }
}

TEST_F(RandomSegments, AreRightWithOutcomesThatComeLate) {
  BatchShape shape;
  shape.unknown = 0.2;
  shape.late = 0.5;
  shape.snapshots = true;
  for (const double stale : {0.0, 0.05}) {
    shape.stale = stale;
    const Tally tally = compare(shape, kHistories);
    EXPECT_LT(tally.undecided, kHistories / 5) << stale;
    EXPECT_GT(tally.holds, kHistories / 2);
  }
}

TEST_F(RandomSegments, AreRightWithMissingClocks) {
  BatchShape shape;
  shape.unclocked = 0.05;
  shape.unknown = 0.05;
  shape.stale = 0.05;
  compare(shape, kHistories);
}

TEST_F(RandomSegments, AreRightWithRepeatedValues) {
  BatchShape shape;
  shape.repeats = 0.5;
  shape.unknown = 0.1;
  shape.late = 0.3;
  shape.stale = 0.05;
  const Tally tally = compare(shape, kHistories);
  EXPECT_LT(tally.undecided, kHistories);
  shape.unknown = 0;
  EXPECT_LT(compare(shape, kHistories).undecided, kHistories / 2);
}

TEST_F(RandomSegments, AreRightWithCompareAndSet) {
  BatchShape shape;
  shape.cas = 0.5;
  shape.repeats = 0.2;
  shape.unknown = 0.05;
  shape.stale = 0.05;
  compare(shape, kHistories);
}

}  // namespace
}  // namespace ouro::oracle
