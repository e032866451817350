// What is wrong in plain sight, in histories with one thing wrong. result_set.cc is tested here,
// too: it finds what add_wrong_reads() adds of predicate reads.

#include "check/local/local.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// "aborted read 0 1": the anomalies, each with its operations.
std::string plain_anomalies(std::string_view text, Level level = Level::Serializable,
                            Evidence evidence = Evidence::Observed) {
  Tiny t(text, evidence);
  Verdict verdict{.level = level, .outcome = Outcome::Holds};
  add_wrong_reads(verdict, t.observed(), {}, 10);
  EXPECT_EQ(verdict.outcome == Outcome::Violated, !verdict.anomalies.empty());
  std::string out;
  for (const Anomaly& anomaly : verdict.anomalies) {
    out += (out.empty() ? "" : "; ") + std::string(info(anomaly.kind).name);
    for (const OpId op : anomaly.ops) out += ' ' + std::to_string(op.index());
    if (!anomaly.expected.empty()) out += " not " + anomaly.expected;
  }
  return out;
}

TEST(LocalTest, WrongReadsAreNamedWithWhatTheyContradict) {
  EXPECT_EQ(plain_anomalies("T1 aborted: w x 1\nT2: r x 1"), "aborted read 1 0");
  EXPECT_EQ(plain_anomalies("T1: r x 9"), "thin-air read 0");
  EXPECT_EQ(plain_anomalies("T1: w x 1, r x nil"), "internal inconsistency 1 0");
  EXPECT_EQ(plain_anomalies("T1: w x 1, r x 1\nT2 aborted: r x 9"), "");
}

TEST(LocalTest, TwoReadsMayDifferWhereTheLevelAllowsIt) {
  const char* const text = "T1: w x 1\nT2: r x nil, r x 1";
  EXPECT_EQ(plain_anomalies(text, Level::ReadCommitted), "");
  EXPECT_EQ(plain_anomalies(text, Level::ReadAtomic), "non-repeatable read 2 1");
}

TEST(LocalTest, AllAreCountedAndTheFirstAreKept) {
  Tiny t("T1: r x 7, r y 8, r z 9");
  Verdict verdict{.level = Level::Si, .outcome = Outcome::Holds};
  add_wrong_reads(verdict, t.observed(), {}, 2);
  EXPECT_EQ(verdict.anomalies.size(), 2u);
  EXPECT_EQ(verdict.counts[static_cast<std::size_t>(AnomalyKind::ThinAirRead)], 3u);
}

TEST(LocalTest, AResultThatIsWrongTwiceIsToldOnce) {
  Tiny t(R"({"session":"a","ops":[["w","k",{"n":1}],["select",{"eq":["n",2]},[["k",{"n":1}]]]]})");
  ASSERT_EQ(plain_predicate_flaws(t.observed()).size(), 1u);
  const PredicateFlaw same{.kind = AnomalyKind::ResultSetMismatch, .read = OpId{1}, .write = {}};
  Verdict verdict{.level = Level::Si, .outcome = Outcome::Holds};
  add_wrong_reads(verdict, t.observed(), {&same, 1}, 10);
  EXPECT_EQ(verdict.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)], 1u);
}

std::string select_of(const std::string& ops) {
  return plain_anomalies(R"({"session":"a","ops":[)" + ops + "]}", Level::Serializable,
                         Evidence::Versions);
}

TEST(ResultSetTest, RowsAreWhatTheReadAsksForAndEachComesOnce) {
  const std::string row = R"(["w","k",{"n":1}],)";
  EXPECT_EQ(select_of(row + R"(["select",{"eq":["n",1]},[["k",{"n":1}]]])"), "");
  EXPECT_NE(select_of(row + R"(["select",{"eq":["n",2]},[["k",{"n":1}]]])"), "");
  EXPECT_NE(select_of(row + R"(["select",true,[["k",{"n":1}],["k",{"n":1}]]])"), "");
  EXPECT_NE(select_of(row + R"(["scan","a","j",[["k",{"n":1}]]])"), "") << "out of range";
}

TEST(ResultSetTest, AVersionSetWithOwnWritesGivesTheResult) {
  const std::string row = R"(["w","k",{"n":1}],)";
  EXPECT_EQ(select_of(row + R"(["aggregate","count",null,true,1,{"versions":[]}])"), "");
  EXPECT_EQ(select_of(row + R"(["aggregate","count",null,true,2,{"versions":[]}])"),
            "result-set mismatch 1");
  EXPECT_EQ(select_of(R"(["aggregate","sum","n",true,null,{"versions":[]}])"), "");
}

TEST(ResultSetTest, WhatWasUndoneIsReadBackByItsOwnPart) {
  EXPECT_EQ(plain_anomalies("T1: savepoint, w x 1, r x 1, rollback, r x nil"), "");
  EXPECT_EQ(plain_anomalies("T1: savepoint, w x 1, r x nil, rollback"),
            "internal inconsistency 1 0");
}

}  // namespace
}  // namespace ouro
