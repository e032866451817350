#include "check/observed/violated.h"

#include <gtest/gtest.h>

#include "tests/case_file.h"

namespace ouro {
namespace {

TEST(ViolatedTest, ACycleNamesItsTransactionsButTheInitialOne) {
  Verdict verdict{.level = Level::Si, .outcome = Outcome::Holds};
  const std::vector<Edge> edges = {{.from = kInitialTxn, .to = TxnId{2}},
                                   {.from = TxnId{2}, .to = kInitialTxn}};
  add_cycle(verdict, AnomalyKind::ForbiddenCycle, edges);
  add_cycle(verdict, AnomalyKind::ForbiddenCycle, edges);
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.counts[static_cast<std::size_t>(AnomalyKind::ForbiddenCycle)], 2u);
  ASSERT_EQ(verdict.anomalies.size(), 2u);
  EXPECT_EQ(verdict.anomalies[0].txns, std::vector{TxnId{2}});
  EXPECT_EQ(verdict.anomalies[0].edges.size(), 2u);
}

TEST(ViolatedTest, CasesNameAllReadsOnceAndTheFirstCycle) {
  const History history = oracle::history_of("T1: r x 1, r y 1\nT2: r x 1\n");
  std::vector<SourceCase> cases(2);
  cases[0].sources = {{.read = OpId{2}, .key = KeyId{0}, .writer = kInitialTxn}};
  cases[1].sources = {{.read = OpId{2}, .key = KeyId{0}, .writer = TxnId{0}},
                      {.read = OpId{1}, .key = KeyId{1}, .writer = TxnId{1}}};
  cases[1].anomalies.push_back(
      {.kind = AnomalyKind::ForbiddenCycle, .edges = {{.from = TxnId{0}, .to = TxnId{1}}}});
  const Verdict verdict = violated_in_all(history, Level::Causal, cases);
  EXPECT_EQ(verdict.level, Level::Causal);
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_EQ(verdict.anomalies.size(), 1u);
  EXPECT_EQ(verdict.anomalies[0].kind, AnomalyKind::ContradictoryOrder);
  EXPECT_EQ(verdict.anomalies[0].ops, (std::vector{OpId{1}, OpId{2}}));
  EXPECT_EQ(verdict.anomalies[0].txns, (std::vector{TxnId{0}, TxnId{1}}));
  EXPECT_EQ(verdict.anomalies[0].edges.size(), 1u);
  EXPECT_EQ(verdict.cases.size(), 2u);
}

}  // namespace
}  // namespace ouro
