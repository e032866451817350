// Histories cut at quiet moments: what the segments say is what the whole says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/check_segments.h"
#include "ouro/format.h"
#include "tests/files.h"
#include "tests/oracle.h"
#include "tests/random_batches.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Level kCutLevels[] = {Level::StrongSi, Level::StrictSerializable};

class SegmentsTest : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(file_);
    std::filesystem::remove(certificate_);
  }

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

  // Why the certificate is rejected, or "".
  std::string certified(const std::string& path, std::size_t piece_bytes = 1'000'000) const {
    const auto out = certify_segments(path, certificate_, piece_bytes);
    if (!out.ok()) return out.error().to_string();
    return out->accepted ? "" : "rejected: " + out->reason;
  }

  // The same of a history that violates the level, which has an ordinary certificate.
  std::string violation_certified(const History& history) const {
    const auto certificate = read_certificate(certificate_);
    if (!certificate.ok()) return certificate.error().to_string();
    const auto out = certify(history, *certificate);
    if (!out.ok()) return out.error().to_string();
    return out->accepted ? "" : "rejected: " + out->reason;
  }

  const std::string file_ = temporary("segments.jsonl");
  const std::string certificate_ = temporary("segments.certificate");
};

struct SegmentTally {
  int holds = 0;
  int violated = 0;
  int undecided = 0;
  int certified = 0;  // Of those that are violated.
  int segments = 0;
};

class RandomSegments : public SegmentsTest {
 protected:
  std::size_t memory_ = 1'000'000'000;
  std::uint64_t ahead_ = 0;  // Zero: as small() has it.

  // Checks histories of `shape` in segments and as a whole, which must not contradict each other.
  SegmentTally compare(const BatchShape& shape, int count, std::int64_t drift = 0) {
    SegmentTally tally;
    for (int seed = 1; seed <= count; ++seed) {
      const History history = random_batches(static_cast<std::uint64_t>(seed), shape);
      const std::string path = write(history);
      for (const Level level : kCutLevels) {
        SegmentsOptions options = small(level);
        options.clock_drift = drift;
        options.piece_bytes = seed % 2 == 0 ? 100 : 1'000'000;
        options.certificate = certificate_;
        options.memory_limit = memory_;
        if (ahead_ > 0) options.ahead = ahead_;
        const CheckedSegments parts = checked(path, options);
        const auto whole = check(history, level, {.clock_drift = drift});
        EXPECT_TRUE(whole.ok());
        tally.segments += static_cast<int>(parts.segments.size());
        const Outcome outcome = parts.verdict.outcome;
        ++(outcome == Outcome::Holds      ? tally.holds
           : outcome == Outcome::Violated ? tally.violated
                                          : tally.undecided);
        if (outcome == Outcome::Holds) {
          EXPECT_EQ(certified(path, options.piece_bytes), "") << seed;
        }
        if (outcome == Outcome::Violated) {
          if (parts.certified) ++tally.certified;
          EXPECT_EQ(parts.certified ? violation_certified(history) : "", "") << seed << slurp(path);
        }
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

constexpr int kBatchHistories = 150;

TEST_F(RandomSegments, SayWhatTheWholeSays) {
  BatchShape shape;
  for (const bool snapshots : {false, true}) {
    shape.snapshots = snapshots;
    const SegmentTally sound = compare(shape, kBatchHistories);
    EXPECT_EQ(sound.undecided, 0);
    EXPECT_GT(sound.holds, kBatchHistories);
    EXPECT_GT(sound.segments, 5 * kBatchHistories);
  }
}

TEST_F(RandomSegments, FindWhatIsWrong) {
  BatchShape shape;
  shape.stale = 0.1;
  shape.stray = 0.03;
  shape.aborted = 0.1;
  for (const bool snapshots : {false, true}) {
    shape.snapshots = snapshots;
    const SegmentTally tally = compare(shape, kBatchHistories);
    EXPECT_EQ(tally.undecided, 0);
    EXPECT_EQ(tally.certified, tally.violated);
    EXPECT_GT(tally.violated, kBatchHistories / 2);
    EXPECT_GT(tally.holds, kBatchHistories / 10);
  }
}

TEST_F(RandomSegments, AreRightWithDriftingClocks) {
  BatchShape shape;
  shape.stale = 0.05;
  for (const std::int64_t drift : {3, 40, 70, 1000}) {
    EXPECT_EQ(compare(shape, kBatchHistories / 3, drift).undecided, 0) << drift;
  }
}

TEST_F(RandomSegments, AreRightWhereNothingIsQuiet) {
  BatchShape shape;
  shape.overlap = 0.3;
  shape.stale = 0.03;
  EXPECT_EQ(compare(shape, kBatchHistories).undecided, 0);
}

TEST_F(RandomSegments, AreRightWithUnknownOutcomes) {
  BatchShape shape;
  shape.unknown = 0.2;
  for (const double ended : {0.0, 0.5, 1.0}) {
    for (const double stale : {0.0, 0.05}) {
      shape.ended = ended;
      shape.stale = stale;
      const SegmentTally tally = compare(shape, kBatchHistories);
      EXPECT_LT(tally.undecided, kBatchHistories / 10) << ended << " " << stale;
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
    const SegmentTally tally = compare(shape, kBatchHistories);
    EXPECT_LT(tally.undecided, kBatchHistories / 5) << stale;
    EXPECT_GT(tally.holds, kBatchHistories / 2);
  }
}

TEST_F(RandomSegments, AreRightWithMissingClocks) {
  BatchShape shape;
  shape.unclocked = 0.05;
  shape.unknown = 0.05;
  shape.stale = 0.05;
  compare(shape, kBatchHistories);
}

TEST_F(RandomSegments, AreRightWithRepeatedValues) {
  BatchShape shape;
  shape.repeats = 0.5;
  shape.unknown = 0.1;
  shape.late = 0.3;
  shape.stale = 0.05;
  const SegmentTally tally = compare(shape, kBatchHistories);
  EXPECT_LT(tally.undecided, kBatchHistories);
  shape.unknown = 0;
  EXPECT_LT(compare(shape, kBatchHistories).undecided, kBatchHistories / 2);
}

TEST_F(RandomSegments, AreRightWithCompareAndSet) {
  BatchShape shape;
  shape.cas = 0.5;
  shape.repeats = 0.2;
  shape.unknown = 0.05;
  shape.stale = 0.05;
  compare(shape, kBatchHistories);
}

// Segments that wait go to files, and cuts are made when three transactions were seen behind them.
TEST_F(RandomSegments, AreRightInLittleMemory) {
  BatchShape shape;
  shape.batches = 8;
  shape.keys = 8;
  shape.stale = 0.02;
  memory_ = 8'000;
  ahead_ = 3;
  EXPECT_LT(compare(shape, kBatchHistories).undecided, kBatchHistories / 20);
  shape.overlap = 0.1;
  compare(shape, kBatchHistories);
}

TEST_F(RandomSegments, AgreeWithTheOracle) {
  BatchShape shape;
  shape.batches = 3;
  shape.batch = 2;
  shape.unknown = 0.1;
  shape.stale = 0.15;
  for (std::uint64_t seed = 1; seed <= kBatchHistories; ++seed) {
    const History history = random_batches(seed, shape);
    const std::string path = write(history);
    for (const LevelInfo& level : levels()) {
      const CheckedSegments parts = checked(path, small(level.level));
      if (parts.verdict.outcome == Outcome::Undecided) continue;
      ASSERT_EQ(parts.verdict.outcome == Outcome::Holds, allowed(history, level.level))
          << level.name << ", seed " << seed << "\n"
          << slurp(path);
    }
  }
}

// What x holds after the first two transactions is told by the fourth.
constexpr char kUnsettled[] = R"({"session":1,"invoked":1,"completed":5,"ops":[["w","x","one"]]}
{"session":2,"invoked":2,"completed":6,"ops":[["w","x","two"]]}
{"session":1,"invoked":11,"completed":12,"ops":[["w","y",{"a":1,"b":"c"}]]}
{"session":2,"invoked":21,"completed":22,"ops":[["r","x","one"],["r","y",{"b":"c","a":1}]]}
)";

TEST_F(SegmentsTest, LaterReadsSettleWhatAKeyHeld) {
  const std::string path = write(kUnsettled);
  SegmentsOptions options = small(Level::StrictSerializable);
  options.certificate = certificate_;
  const CheckedSegments out = checked(path, options);
  EXPECT_EQ(out.verdict.outcome, Outcome::Holds);
  ASSERT_EQ(out.segments.size(), 3);
  EXPECT_EQ(out.segments[1].first, 3);
  EXPECT_EQ(out.segments[1].last, 3);
  EXPECT_EQ(certified(path), "");
  EXPECT_EQ(certified(path, 80), "");
}

TEST_F(SegmentsTest, ReadsThatDisagreeAreViolations) {
  const std::string path =
      write(std::string(kUnsettled) +
            R"({"session":1,"invoked":31,"completed":32,"ops":[["r","x","two"]]}
)");
  for (const Level level : kCutLevels) {
    SegmentsOptions options = small(level);
    options.certificate = certificate_;
    const CheckedSegments out = checked(path, options);
    EXPECT_EQ(out.verdict.outcome, Outcome::Violated);
    EXPECT_EQ(out.segments.back().outcome, Outcome::Violated);
    EXPECT_TRUE(out.certified);
    const auto history = read_history(path);
    ASSERT_TRUE(history.ok());
    EXPECT_EQ(violation_certified(*history), "") << info(level).name;
  }
}

// What was written in another segment is not called a value that nobody wrote.
TEST_F(SegmentsTest, AStaleReadIsToldAsOne) {
  const std::string path = write(R"({"session":"a","invoked":1,"completed":5,"ops":[["w","x",1]]}
{"session":"b","invoked":12,"completed":16,"ops":[["w","x",2]]}
{"session":"a","invoked":21,"completed":25,"ops":[["r","x",1],["w","y",3]]}
{"session":"b","invoked":31,"completed":35,"ops":[["r","y",3]]}
)");
  const CheckedSegments out = checked(path, small(Level::StrictSerializable));
  ASSERT_EQ(out.verdict.outcome, Outcome::Violated);
  EXPECT_EQ(out.verdict.counts[static_cast<std::size_t>(AnomalyKind::ThinAirRead)], 0);
  EXPECT_FALSE(out.verdict.anomalies.empty());
  EXPECT_EQ(out.segments[2].outcome, Outcome::Violated);

  const Ran told = run_program(
      {kOuroBinary, "check", "--stream", "--segment", "1", "--level", "strict-serializable", path});
  EXPECT_EQ(told.status, 1);
  EXPECT_THAT(told.out, HasSubstr("Forbidden from strict-serializable on"));
  EXPECT_THAT(told.out, HasSubstr("(before the segment)"));
  EXPECT_THAT(told.out, Not(HasSubstr("nobody wrote")));
}

TEST_F(SegmentsTest, CertificatesOfOtherHistoriesOrOrdersAreRejected) {
  const std::string path = write(kUnsettled);
  SegmentsOptions options = small(Level::StrictSerializable);
  options.certificate = certificate_;
  ASSERT_EQ(checked(path, options).verdict.outcome, Outcome::Holds);
  const std::string proof = slurp(certificate_);
  const auto tampered = [&](const std::string& from, const std::string& to) {
    std::string text = proof;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << "\n" << proof;
    std::ofstream(certificate_) << text.replace(at, from.size(), to);
    return certified(path);
  };
  EXPECT_EQ(tampered("", ""), "");
  EXPECT_THAT(tampered("[2,1]", "[1,2]"), HasSubstr("transactions 4 to 4"));
  EXPECT_THAT(tampered("[1,2]}", "[1,1]}"), HasSubstr("rejected"));
  EXPECT_THAT(tampered("\"segments\":3", "\"segments\":4"), HasSubstr("another history"));
  EXPECT_THAT(tampered("{\"segments\":3}", ""), HasSubstr("segments are missing"));
  EXPECT_THAT(tampered("\"clock_drift\":0", "\"clock_drift\":9"), HasSubstr("another claim"));
  EXPECT_THAT(tampered("strict-serializable", "serializable"), HasSubstr("no certificates of"));
  EXPECT_THAT(tampered("[3,3]", "[3,3],\"without\":[3]"), HasSubstr("belongs to its segment"));
  EXPECT_THAT(tampered("[3,3]", "[3,3],\"late\":[1]"), HasSubstr("is no late one"));
  std::ofstream(certificate_) << proof.substr(0, proof.size() / 2);
  EXPECT_THAT(certified(path), HasSubstr("cut off"));
  std::ofstream(certificate_) << proof;
  std::string other = kUnsettled;
  other.replace(other.find("\"completed\":22"), 14, "\"completed\":23");
  EXPECT_THAT(certified(write(other)), HasSubstr("other transactions"));
}

// Transactions 3 and 4 are ordered against time if the segments are exchanged.
TEST_F(SegmentsTest, CertificatesKeepTimeAndSessions) {
  const std::string early = R"({"session":1,"invoked":1,"completed":2,"ops":[["w","x",1]]}
)";
  const std::string late = R"({"session":1,"invoked":11,"completed":12,"ops":[["w","y",1]]}
)";
  SegmentsOptions options = small(Level::StrictSerializable);
  options.certificate = certificate_;
  ASSERT_EQ(checked(write(early + late), options).segments.size(), 2);
  ASSERT_EQ(certified(file_), "");
  const std::string path = write(late + early);
  const CheckedSegments out = checked(path, options);
  EXPECT_EQ(out.segments.size(), 1);
  EXPECT_EQ(out.verdict.outcome, Outcome::Violated);
}

TEST_F(SegmentsTest, WeakerLevelsFollowOrAreUndecided) {
  // T2 misses T1, which was done before: strict-serializable is violated, others hold.
  const std::string path = write(R"({"session":1,"invoked":1,"completed":2,"ops":[["w","x",1]]}
{"session":2,"invoked":11,"completed":12,"ops":[["r","x",null]]}
)");
  for (const Level level : kCutLevels) {
    EXPECT_EQ(checked(path, small(level)).verdict.outcome, Outcome::Violated);
  }
  for (const Level level : {Level::Serializable, Level::Si, Level::Causal}) {
    const CheckedSegments out = checked(path, small(level));
    EXPECT_EQ(out.verdict.outcome, Outcome::Undecided);
    EXPECT_THAT(out.verdict.reason, HasSubstr("the history violates s"));
  }
  write(kUnsettled);
  for (const LevelInfo& level : levels()) {
    const CheckedSegments out = checked(file_, small(level.level));
    EXPECT_EQ(out.verdict.outcome, Outcome::Holds) << level.name;
    EXPECT_EQ(out.verdict.level, level.level);
  }
}

TEST_F(SegmentsTest, WhatIsWrongWithinATransactionIsSoAtEveryLevel) {
  const std::string path =
      write(R"({"session":1,"invoked":1,"completed":2,"ops":[["w","x",1],["r","x",2]]}
{"session":2,"invoked":11,"completed":12,"ops":[["r","x",7]]}
)");
  for (const LevelInfo& level : levels()) {
    const CheckedSegments out = checked(path, small(level.level));
    EXPECT_EQ(out.verdict.outcome, Outcome::Violated) << level.name;
  }
}

TEST_F(SegmentsTest, NothingIsClaimedWhereNoMomentIsQuiet) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "{\"session\":" + std::to_string(i % 2) + ",\"invoked\":" + std::to_string(10 * i) +
            ",\"completed\":" + std::to_string(10 * i + 15) + ",\"ops\":[[\"w\",\"x\"," +
            std::to_string(i + 1) + "]]}\n";
  }
  SegmentsOptions options = small(Level::StrictSerializable);
  options.piece_bytes = 500;
  EXPECT_EQ(checked(write(text), options).verdict.outcome, Outcome::Holds);
  options.memory_limit = 4'000;
  const CheckedSegments out = checked(file_, options);
  EXPECT_EQ(out.verdict.outcome, Outcome::Undecided);
  EXPECT_THAT(out.verdict.reason, HasSubstr("no moment is quiet"));
}

TEST_F(SegmentsTest, AStragglerLeavesWhatIsBehindTheCutUndecided) {
  std::string text = R"({"session":1,"invoked":1,"completed":2,"ops":[["w","x",1]]}
)";
  for (int i = 2; i < 9; ++i) {
    const std::string at = std::to_string(10 * i);
    text += "{\"session\":1,\"invoked\":" + at + ",\"completed\":" + at + ",\"ops\":[]}\n";
  }
  text += R"({"session":2,"invoked":15,"completed":95,"ops":[["w","x",2]]}
)";
  SegmentsOptions options = small(Level::StrictSerializable);
  EXPECT_EQ(checked(write(text), options).verdict.outcome, Outcome::Holds);
  options.ahead = 2;
  options.piece_bytes = 100;
  const CheckedSegments out = checked(file_, options);
  EXPECT_EQ(out.verdict.outcome, Outcome::Undecided);
  EXPECT_THAT(out.verdict.reason, HasSubstr(":9 may have begun before"));
  EXPECT_EQ(out.segments.front().outcome, Outcome::Holds);
}

TEST_F(SegmentsTest, InitialValuesCount) {
  const std::string path = write(R"({"ouro":1,"initial":0}
{"key":"x","initial":5}
{"session":1,"invoked":1,"completed":2,"ops":[["r","x",5],["r","y",0]]}
{"session":1,"invoked":11,"completed":12,"ops":[["r","x",5],["r","y",0]]}
)");
  SegmentsOptions options = small(Level::StrictSerializable);
  options.certificate = certificate_;
  EXPECT_EQ(checked(path, options).verdict.outcome, Outcome::Holds);
  EXPECT_EQ(certified(path), "");
  EXPECT_EQ(certified(path, 50), "");
  std::ofstream(file_, std::ios::app) << R"({"key":"x","initial":6}
)";
  options.piece_bytes = 50;
  const auto late = check_segments(file_, options);
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().what, HasSubstr("must come before"));
}

TEST_F(SegmentsTest, WhatIsNoRegisterIsRefused) {
  for (const char* op : {R"(["append","x",1])", R"(["r","x",[1]])", R"(["scan","a","b",[]])",
                         R"(["inc","x",1])", R"(["add","x",1])"}) {
    const std::string path =
        write(R"({"session":1,"invoked":1,"completed":2,"ops":[)" + std::string(op) + "]}\n");
    const auto out = check_segments(path, small(Level::StrictSerializable));
    ASSERT_FALSE(out.ok()) << op;
    EXPECT_THAT(out.error().what, HasSubstr("only reads and writes of registers")) << op;
  }
}

}  // namespace
}  // namespace ouro::oracle
