// The sentence of every anomaly that timestamps show.

#include <gtest/gtest.h>

#include <string>

#include "ouro/check.h"
#include "ouro/format.h"
#include "report/narrator.h"

namespace ouro {
namespace {

// The first sentence about `kind` that the history gives at `level`.
std::string told(const std::string& text, Level level, AnomalyKind kind) {
  const auto history = parse_history(text);
  if (!history.ok()) return history.error().to_string();
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  const auto verdict = check(*history, level, options);
  if (!verdict.ok()) return verdict.error().to_string();
  for (const Story& story : explain(*history, *verdict).stories) {
    if (story.kind == kind) return Narrator(*history, story).lines()[0];
  }
  return "not found";
}

TEST(TimestampStoryTest, SnapshotMismatchesNameBothWriters) {
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":[2,5],"ops":[["w","x",1]]}
{"session":"b","status":"aborted","ops":[["w","x",2]]}
{"session":"c","start_ts":3,"commit_ts":4,"ops":[["r","x",2]]})",
                 Level::Si, AnomalyKind::SnapshotMismatch),
            "T3 read x=2, which T2 wrote and then aborted; but by its timestamp it should have "
            "read x=1, which T1 wrote and committed at [2,5].");
  EXPECT_EQ(told(R"({"session":"a","status":"unknown","start_ts":1,"ops":[["w","x",1]]}
{"session":"c","start_ts":3,"commit_ts":4,"ops":[["r","x",1]]})",
                 Level::Si, AnomalyKind::SnapshotMismatch),
            "T2 read x=1, which T1 wrote, of which no commit is known; but by its timestamp it "
            "should have read x=null, the initial value.");
}

TEST(TimestampStoryTest, ValuesThatNobodyElseMayEverSeeSayWhy) {
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",1],["w","x",2]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["r","x",1]]})",
                 Level::Si, AnomalyKind::SnapshotMismatch),
            "T2 read x=1, which T1 wrote and then overwrote itself; but by its timestamp it should "
            "have read x=2, which T1 wrote and committed at 2.");
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["r","x",2],["w","x",2]]})",
                 Level::Si, AnomalyKind::SnapshotMismatch),
            "T2 read x=2, which it wrote only later; but by its timestamp it should have read x=1, "
            "which T1 wrote and committed at 2.");
}

TEST(TimestampStoryTest, ListsNameWhoAppendedLast) {
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["append","l",1]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["append","l",2]]}
{"session":"c","start_ts":5,"commit_ts":6,"ops":[["append","l",3],["r","l",[1,3]]]})",
                 Level::Serializable, AnomalyKind::SnapshotMismatch),
            "T3 read l=[1,3]; but by its timestamp it should have read l=[1,2,3], last appended to "
            "by T2.");
}

TEST(TimestampStoryTest, PairsOfWriters) {
  const std::string text = R"({"session":"a","start_ts":1,"commit_ts":5,"ops":[["w","x",1]]}
{"session":"b","start_ts":2,"commit_ts":5,"ops":[["w","x",2]]})";
  EXPECT_EQ(told(text, Level::Si, AnomalyKind::WriteConflict),
            "T1 and T2 both wrote x, and neither had committed when the other started.");
  EXPECT_EQ(told(text, Level::Serializable, AnomalyKind::DuplicateTimestamp),
            "T1 and T2 both wrote x and committed at 5: nobody can say whose is the newer.");
}

// T9 and T10 stand in this order, as numbers do.
TEST(TimestampStoryTest, AWriterWithALongNumberComesBehind) {
  std::string text;
  for (int i = 1; i <= 10; ++i) {
    text += R"({"session":)" + std::to_string(i) + R"(,"start_ts":)" + std::to_string(i) +
            R"(,"commit_ts":50,"ops":[["w","x",)" + std::to_string(i) + "]]}\n";
  }
  const auto history = parse_history(text);
  ASSERT_TRUE(history.ok());
  Story story{.pattern = Pattern::WriteConflict, .kind = AnomalyKind::WriteConflict};
  for (std::size_t t = 0; t < 10; ++t) story.txns.emplace_back(t);
  story.evidence = Evidence::Timestamps;
  story.shown_in = {TxnId{9}, TxnId{8}};
  story.shown_by = {OpId{9}, OpId{8}};
  EXPECT_EQ(Narrator(*history, story).lines()[0],
            "T9 and T10 both wrote x, and neither had committed when the other started.");
}

// A story of the history at `level` in one line: its name, what happened, the proof, and where it
// is allowed; the first one.
std::string lost(const std::string& text, Level level) {
  const auto history = parse_history(text);
  if (!history.ok()) return history.error().to_string();
  const auto verdict = check(*history, level, {.evidence = Evidence::Timestamps});
  if (!verdict.ok()) return verdict.error().to_string();
  const Explanation explanation = explain(*history, *verdict);
  if (explanation.stories.empty()) return "none";
  const Story& story = explanation.stories[0];
  const Narrator narrator(*history, story);
  std::string out = name(story) + ": " + narrator.in_short();
  if (narrator.has_proof()) out += " " + narrator.lines()[0];
  out += " Allowed up to";
  for (const Level allowed : story.strongest_holding) out += " " + std::string(info(allowed).name);
  return out;
}

constexpr const char* kShop = R"({"session":"s","start_ts":1,"commit_ts":2,"ops":[["w","x",1]]})"
                              "\n";

TEST(TimestampStoryTest, WhoeverOverwritesWhatTheOtherReadLosesAnUpdate) {
  const std::string both =
      std::string(kShop) +
      R"({"session":"a","start_ts":3,"commit_ts":6,"ops":[["r","x",1],["w","x",2]]}
{"session":"b","start_ts":4,"commit_ts":7,"ops":[["r","x",1],["w","x",3]]}
)";
  constexpr const char* kBoth =
      "lost update: T2 and T3 both read x=1, and each overwrote what the other relied on: one "
      "update is lost. ";
  EXPECT_EQ(lost(both, Level::Si),
            std::string(kBoth) +
                "T2 and T3 both wrote x, and neither had committed when the other started. Allowed "
                "up to prefix");
  EXPECT_EQ(lost(both, Level::Serializable),
            std::string(kBoth) +
                "T3 read x=1, which T1 wrote and committed at 2; but by its timestamp it should "
                "have read x=2, which T2 wrote and committed at 6. Allowed up to prefix");
}

TEST(TimestampStoryTest, AReadThatIsTooOldLosesAnUpdateAlsoLongAfterwards) {
  const std::string late =
      std::string(kShop) +
      R"({"session":"a","start_ts":3,"commit_ts":4,"ops":[["r","x",1],["w","x",2]]}
{"session":"b","start_ts":5,"commit_ts":6,"ops":[["r","x",2],["w","x",3]]}
{"session":"c","start_ts":7,"commit_ts":8,"ops":[["r","x",1],["w","x",4]]}
)";
  EXPECT_EQ(lost(late, Level::Si),
            "lost update: T2 and T4 both read x=1, and each overwrote what the other relied on: "
            "one update is lost. T4 read x=1, which T1 wrote and committed at 2; but by its "
            "timestamp it should have read x=3, which T3 wrote and committed at 6. Allowed up to "
            "prefix");
}

TEST(TimestampStoryTest, NotEveryConflictIsALostUpdate) {
  const std::string blind = R"({"session":"a","start_ts":3,"commit_ts":6,"ops":[["w","x",2]]}
{"session":"b","start_ts":4,"commit_ts":7,"ops":[["r","x",null],["w","x",3]]}
)";
  EXPECT_EQ(lost(blind, Level::Si).substr(0, 15), "write conflict:") << "one of them read nothing";
  // Between the begins of the two, others made another version of the same value.
  const std::string again =
      std::string(kShop) +
      R"({"session":"a","start_ts":3,"commit_ts":9,"ops":[["r","x",1],["w","x",2]]}
{"session":"b","start_ts":4,"commit_ts":5,"ops":[["w","x",1]]}
{"session":"c","start_ts":6,"commit_ts":8,"ops":[["r","x",1],["w","x",3]]}
)";
  EXPECT_EQ(lost(again, Level::Si).substr(0, 15), "write conflict:");
  const std::string lists =
      R"({"session":"s","start_ts":1,"commit_ts":2,"ops":[["append","l",1]]}
{"session":"a","start_ts":3,"commit_ts":6,"ops":[["r","l",[1]],["append","l",2]]}
{"session":"b","start_ts":4,"commit_ts":7,"ops":[["append","l",3]]}
)";
  EXPECT_EQ(lost(lists, Level::Si).substr(0, 15), "write conflict:") << "one of them read nothing";
}

// By timestamps they have the name that they have by observation.
TEST(TimestampStoryTest, ListsAreUpdatedByAppends) {
  const std::string text =
      R"({"session":"s","start_ts":1,"commit_ts":2,"ops":[["append","l",1]]}
{"session":"s","start_ts":3,"commit_ts":4,"ops":[["append","l",2]]}
{"session":"a","start_ts":5,"commit_ts":8,"ops":[["r","l",[1,2]],["append","l",3]]}
{"session":"b","start_ts":6,"commit_ts":9,"ops":[["r","l",[1,2]],["append","l",4]]}
)";
  const std::string both =
      "lost update: T2 and T3 both read l=[1,2], and each appended to it without having seen what "
      "the other appended. ";
  EXPECT_EQ(lost(text, Level::Si),
            both +
                "T2 and T3 both wrote l, and neither had committed when the other started. Allowed "
                "up to prefix");
  EXPECT_EQ(lost(text, Level::Serializable),
            both +
                "T3 read l=[1,2]; but by its timestamp it should have read l=[1,2,3], last "
                "appended to by T2. Allowed up to prefix");
}

TEST(TimestampStoryTest, Inversions) {
  const std::string text =
      R"({"session":"a","invoked":10,"completed":20,"start_ts":3,"commit_ts":4,"ops":[["w","x",1]]}
{"session":"a","invoked":30,"completed":40,"start_ts":1,"commit_ts":2,"ops":[["r","x",null]]})";
  EXPECT_EQ(told(text, Level::StrictSerializable, AnomalyKind::SessionInversion),
            "T2 comes after T1 in session a, but by their timestamps it is not so: T1 runs from 3 "
            "to 4, and T2 from 1 to 2.");
  EXPECT_EQ(told(text, Level::StrictSerializable, AnomalyKind::RealTimeInversion),
            "T1 completed at 20, before T2 was invoked at 30 (by the clients' clocks), but by "
            "their timestamps it is not so: T1 runs from 3 to 4, and T2 from 1 to 2.");
}

TEST(TimestampStoryTest, TimestampsThatAreWrong) {
  const std::string text = R"({"session":"a","start_ts":3,"ops":[["w","x",1]]}
{"session":"b","commit_ts":3,"ops":[["w","y",1]]}
{"session":"c","ops":[["w","z",1]]}
{"session":"d","start_ts":9,"commit_ts":8,"ops":[["r","u",null]]})";
  EXPECT_EQ(told(text, Level::Si, AnomalyKind::MissingTimestamp),
            "T1 has no commit timestamp, so it has no place among the others.");
  EXPECT_EQ(told(text.substr(text.find('\n') + 1), Level::Si, AnomalyKind::MissingTimestamp),
            "T1 has no start timestamp, so it has no place among the others.");
  EXPECT_EQ(told(text, Level::Si, AnomalyKind::InvertedTimestamps),
            "T1 starts at 9, but had committed at 8.");
}

TEST(TimestampStoryTest, ResultSets) {
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w",1,{"c":1}],["w",2,5]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["scan",null,9,[[2,5]]]]})",
                 Level::Si, AnomalyKind::ResultSetMismatch),
            "T2's scan ..9 (1 row) missed 1={\"c\":1}, which T1 wrote and committed at 2; by its "
            "timestamp it should have found it.");
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w",1,4]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["scan",null,9,[[1,3]]]]})",
                 Level::Si, AnomalyKind::ResultSetMismatch),
            "T2 read 1=3 by scan ..9 (1 row); but by its timestamp it should have found 1=4, which "
            "T1 wrote and committed at 2.");
  EXPECT_EQ(told(R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w",9,4]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["scan",null,5,[[1,3]]]]})",
                 Level::Si, AnomalyKind::ResultSetMismatch),
            "T1's scan ..5 (1 row) returned 1=3, which by its timestamp it should not.");
}

}  // namespace
}  // namespace ouro
