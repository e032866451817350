// What replay finds in histories with one thing wrong.

#include "check/timeline/replay.h"

#include <gtest/gtest.h>

#include "check/timeline/precedence.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

// The violations that were counted, in the words of case files.
std::string words_of(const Violations& violations) {
  std::string out;
  for (std::size_t kind = 0; kind < kAnomalyKindCount; ++kind) {
    for (std::uint64_t i = 0; i < violations.counts()[kind]; ++i) {
      out += std::string(oracle::word(static_cast<AnomalyKind>(kind))) + ' ';
    }
  }
  return out;
}

std::string replayed(std::string_view text, Level level = Level::Si) {
  const History history = oracle::history_of(text);
  Violations violations(10);
  const Timeline timeline(history, rules(level), 1, violations);
  const auto lists = ListKeys::of(history, 1);
  if (!lists.ok()) return "error";
  replay(history, timeline, *lists, 1, Budget(), violations);
  return words_of(violations);
}

TEST(TimelineStepsTest, CommitsComeBeforeBeginsAtTheSameTime) {
  const History history = oracle::history_of("T1 {1,5}: w x 1\nT2 {5,9}: r x 1");
  Violations violations(10);
  const Timeline timeline(history, rules(Level::Si), 1, violations);
  EXPECT_LT(timeline.commit(TxnId{0}), timeline.begin(TxnId{1}));
  EXPECT_EQ(timeline.size(), 4u);
  EXPECT_TRUE(timeline.writes(TxnId{0}));
  EXPECT_FALSE(timeline.writes(TxnId{1}));
}

TEST(TimelineStepsTest, OddTimestampsAreNoted) {
  EXPECT_EQ(replayed("T1 {9,5}: w x 1"), "inverted-timestamps ");
  EXPECT_EQ(replayed("T1 {1,}: w x 1\nT2 {1,2}: w y 1"), "missing-timestamp ");
  EXPECT_EQ(replayed("T1 {1,5}: w x 1\nT2 {2,5}: w x 2"), "write-conflict duplicate-timestamp ");
}

TEST(ReplayTest, AReadReturnsWhatItsSnapshotHolds) {
  EXPECT_EQ(replayed("T1 {1,2}: w x 1\nT2 {3,4}: r x 1"), "");
  EXPECT_EQ(replayed("T1 {1,2}: w x 1\nT2 {3,4}: r x nil"), "snapshot-mismatch ");
  EXPECT_EQ(replayed("T1 {1,5}: w x 1\nT2 {3,7}: r x nil"), "") << "not committed yet";
}

TEST(ReplayTest, WithoutSnapshotsReadsSeeTheStateAtTheCommit) {
  EXPECT_EQ(replayed("T1 {1,5}: w x 1\nT2 {3,7}: r x 1", Level::Serializable), "");
  EXPECT_EQ(replayed("T1 {1,5}: w x 1\nT2 {3,7}: r x nil", Level::Serializable),
            "snapshot-mismatch ");
}

TEST(ReplayTest, WritersOfAKeyMustNotOverlap) {
  EXPECT_EQ(replayed("T1 {1,4}: w x 1\nT2 {3,6}: w x 2"), "write-conflict ");
  EXPECT_EQ(replayed("T1 {1,4}: w x 1\nT2 {4,6}: w x 2"), "");
}

TEST(ReplayTest, OwnWritesAndEarlierReadsAreWhatALaterReadReturns) {
  EXPECT_EQ(replayed("T1 {1,2}: w x 1, r x 1"), "");
  EXPECT_EQ(replayed("T1 {1,2}: w x 1, r x nil"), "internal ");
  EXPECT_EQ(replayed("T1 {1,2}: w x 1\nT2 {3,4}: r x 1, r x nil"), "non-repeatable-read ");
}

TEST(ReplayTest, ListsGrowByWhatWasCommitted) {
  EXPECT_EQ(replayed("T1 {1,2}: append x 1\nT2 {3,4}: append x 2, r x [1 2]"), "");
  EXPECT_EQ(replayed("T1 {1,2}: append x 1\nT2 {3,4}: r x []"), "snapshot-mismatch ");
  EXPECT_EQ(replayed("T1 {1,2}: append x 1, r x []"), "internal ");
}

TEST(ReplayTest, NoKeyIsARegisterAndAList) {
  EXPECT_EQ(replayed("T1 {1,2}: append x 1\nT2 {3,4}: w x 1"), "error");
}

std::string preceded(std::string_view text, bool sessions, std::int64_t drift = 0) {
  const History history = oracle::history_of(text);
  Violations violations(10);
  const Timeline timeline(history, rules(Level::Si), 1, violations);
  if (sessions) {
    check_sessions(history, timeline, violations);
  } else {
    check_real_time(history, timeline, rules(Level::StrongSi), drift, violations);
  }
  return words_of(violations);
}

TEST(PrecedenceTest, ATransactionBeginsBehindTheCommitsOfItsSession) {
  EXPECT_EQ(preceded("T1 @a {1,5}: w x 1\nT2 @a {3,7}: w y 1", true), "session-inversion ");
  EXPECT_EQ(preceded("T1 @a {1,3}: w x 1\nT2 @a {3,7}: w y 1", true), "");
  EXPECT_EQ(preceded("T1 @a {1,5}: w x 1\nT2 @b {3,7}: w y 1", true), "");
}

TEST(PrecedenceTest, ATransactionBeginsBehindWhatHadCompleted) {
  constexpr std::string_view kText = "T1 [1,10] {1,5}: w x 1\nT2 [20,30] {3,7}: w y 1";
  EXPECT_EQ(preceded(kText, false), "real-time-inversion ");
  EXPECT_EQ(preceded(kText, false, 9), "real-time-inversion ");
  EXPECT_EQ(preceded(kText, false, 10), "") << "by no more than the drift";
}

}  // namespace
}  // namespace ouro
