// Proofs that a level is violated whether predicate reads saw the start or the commit.

#include "check/both_moments.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro {
namespace {

// T1 commits at 4. T2 begins at 2 and commits at 6; its select, operation 1, missed T1's row, which
// was there at its commit but not at its start.
class BothMomentsTest : public testing::Test {
 protected:
  static Edge missed() {
    return {.from = TxnId{1},
            .to = TxnId{0},
            .kind = EdgeKind::ReadWrite,
            .key = KeyId{0},
            .from_op = OpId{1},
            .to_op = OpId{0}};
  }
  static Edge session() { return {.from = TxnId{0}, .to = TxnId{1}, .kind = EdgeKind::Session}; }
  // Violated by one cycle.
  static Verdict by_cycle(std::vector<Edge> edges) {
    Verdict verdict{.level = Level::Si, .outcome = Outcome::Violated};
    verdict.anomalies.push_back({.kind = AnomalyKind::ForbiddenCycle, .edges = std::move(edges)});
    verdict.counts[static_cast<std::size_t>(AnomalyKind::ForbiddenCycle)] = 1;
    return verdict;
  }
  // Violated in each of some cases.
  static Verdict by_cases(std::vector<SourceCase> cases) {
    Verdict verdict = by_cycle({});
    verdict.anomalies[0].kind = AnomalyKind::ContradictoryOrder;
    verdict.cases = std::move(cases);
    return verdict;
  }
  static SourceCase said(TxnId writer, std::vector<Edge> edges) {
    SourceCase out;
    out.sources = {{.read = OpId{2}, .key = KeyId{0}, .writer = writer}};
    out.anomalies.push_back({.kind = AnomalyKind::ForbiddenCycle, .edges = std::move(edges)});
    return out;
  }

  const History history_ = oracle::history_of(
      R"({"session":1,"start_ts":1,"commit_ts":4,"ops":[["w","k",{"n":1}]]})"
      "\n"
      R"({"session":2,"start_ts":2,"commit_ts":6,"ops":[["select",true,[]],["r","x",1]]})");
};

TEST_F(BothMomentsTest, ACycleThatTheLaterSnapshotHasTooIsEnough) {
  Verdict verdict = by_cycle({missed(), session()});
  verdict.anomalies.push_back({.kind = AnomalyKind::ForbiddenCycle, .edges = {session()}});
  prove_both(history_, verdict, by_cycle({missed()}));
  ASSERT_EQ(verdict.anomalies.size(), 2u);
  EXPECT_EQ(verdict.anomalies[0].edges.size(), 1u) << "it comes first";
}

TEST_F(BothMomentsTest, OtherwiseThatOfTheCommitIsAdded) {
  Verdict verdict = by_cycle({missed(), session()});
  prove_both(history_, verdict, by_cycle({session()}));
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_EQ(verdict.anomalies.size(), 2u);
  EXPECT_EQ(verdict.anomalies[1].edges.size(), 1u);
}

TEST_F(BothMomentsTest, CasesOfBothAreSplitWhereTheyAgree) {
  Verdict verdict = by_cases({said(kInitialTxn, {session()}), said(TxnId{0}, {missed()})});
  prove_both(history_, verdict,
             by_cases({said(kInitialTxn, {session()}), said(TxnId{0}, {session(), session()})}));
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_EQ(verdict.cases.size(), 2u);
  EXPECT_EQ(verdict.cases[0].anomalies.size(), 1u) << "it is enough";
  EXPECT_EQ(verdict.cases[1].anomalies.size(), 2u) << "one for each moment";
}

TEST_F(BothMomentsTest, WhatTakesTwoRefutationsIsUndecided) {
  Verdict verdict = by_cases({said(TxnId{0}, {missed()})});
  verdict.cases[0].refutation.steps.resize(1);
  Verdict other = by_cases({});
  other.refutation.steps.resize(1);
  prove_both(history_, verdict, other);
  EXPECT_EQ(verdict.outcome, Outcome::Undecided);
  EXPECT_NE(verdict.reason, "");
}

TEST_F(BothMomentsTest, CasesAboutWhatPredicateReadsSawAreUndecided) {
  Verdict verdict = by_cases({said(TxnId{0}, {session()})});
  verdict.cases[0].sights = {{.read = OpId{1}, .key = KeyId{0}, .writer = TxnId{0}, .seen = true}};
  prove_both(history_, verdict, by_cases({}));
  EXPECT_EQ(verdict.outcome, Outcome::Undecided);
}

}  // namespace
}  // namespace ouro
