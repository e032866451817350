// Predicate reads, replayed over a table of one or two rows.

#include "check/timeline/predicates.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro {
namespace {

// What the reads of T3 should have returned, where they did not: "[] [[...]]". T1 writes row k at
// 2, T2 deletes it at 5.
std::string mismatches(const std::string& ops, const std::string& stamps, Level level = Level::Si,
                       const std::string& more = "") {
  const History history =
      oracle::history_of(R"({"session":1,"start_ts":1,"commit_ts":2,"ops":[["w","k",{"n":1}]]})"
                         "\n"
                         R"({"session":2,"start_ts":4,"commit_ts":5,"ops":[["d","k"]]})"
                         "\n"
                         R"({"session":3,)" +
                         stamps + R"("ops":[)" + ops + "]}\n" + more);
  Violations violations(10);
  const Timeline timeline(history, rules(level), 1, violations);
  const auto lists = ListKeys::of(history, 1);
  EXPECT_TRUE(lists.ok());
  replay_predicates(history, timeline, *lists, 1, Budget(), violations);
  std::string out;
  for (const Violation& violation : std::move(violations).first_examples()) {
    EXPECT_EQ(violation.kind, AnomalyKind::ResultSetMismatch);
    out += (out.empty() ? "" : " ") + violation.expected;
  }
  return out;
}

const std::string kAtThree = R"("start_ts":3,"commit_ts":9,)";

TEST(TimelinePredicatesTest, AReadSeesTheRowsOfItsSnapshot) {
  const std::string row = R"(["select",true,[["k",{"n":1}]]])";
  const std::string none = R"(["select",true,[]])";
  EXPECT_EQ(mismatches(row, kAtThree), "");
  EXPECT_EQ(mismatches(none, kAtThree), R"([["k",{"n":1}]])");
  EXPECT_EQ(mismatches(none, R"("start_ts":5,"commit_ts":9,)"), "") << "it was deleted at 5";
  EXPECT_EQ(mismatches(none, R"("start_ts":1,"commit_ts":9,)"), "") << "not written yet";
  EXPECT_EQ(mismatches(none, kAtThree, Level::Serializable), "") << "it sees what is there at 9";
  EXPECT_EQ(mismatches(row, kAtThree, Level::Serializable), "[]");
}

TEST(TimelinePredicatesTest, ItSeesOwnWritesBeforeItAndNobodyElseDoes) {
  const std::string text =
      R"(["aggregate","count",null,true,1],["w","j",{"n":7}],["aggregate","sum","n",true,8],)"
      R"(["d","k"],["scan",null,null,[["j",{"n":7}]]])";
  const std::string other =
      R"({"session":4,"start_ts":6,"commit_ts":7,"ops":[["aggregate","count",null,true,0]]})";
  EXPECT_EQ(mismatches(text, kAtThree, Level::Si, other), "") << "k was deleted, j not committed";
  EXPECT_EQ(mismatches(R"(["aggregate","sum","n",true,8],["w","j",{"n":7}])", kAtThree), "1");
}

TEST(TimelinePredicatesTest, EveryWrongReadIsFound) {
  EXPECT_EQ(mismatches(R"(["aggregate","max","n",true,2],["aggregate","min","n",true],)"
                       R"(["aggregate","count","n",{"gt":["n",1]},1])",
                       kAtThree),
            "1 0")
      << "what nobody recorded is not wrong";
}

}  // namespace
}  // namespace ouro
