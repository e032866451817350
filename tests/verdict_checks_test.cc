#include "tests/verdict_checks.h"

#include <gtest/gtest.h>

#include <utility>

#include "ouro/check.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/oracle.h"

namespace ouro::oracle {
namespace {

std::string complaint_about(const History& history, const Verdict& verdict) {
  return complaint(history, allowed_levels(history), verdict);
}

// T1 writes x and y, T2 misses y and sees x: the cycle is T1 → initial (forced) → T1.
Verdict fractured_read_verdict() {
  const KeyId x{0};
  const KeyId y{1};
  const TxnId t1{0};
  Verdict verdict{.level = Level::ReadAtomic, .outcome = Outcome::Violated};
  Anomaly anomaly{.kind = AnomalyKind::FracturedRead, .txns = {t1, TxnId{1}}};
  anomaly.edges.push_back({.from = t1,
                           .to = kInitialTxn,
                           .kind = EdgeKind::Forced,
                           .key = y,
                           .from_op = OpId{1},
                           .read = OpId{2},
                           .saw = OpId{3}});
  anomaly.edges.push_back(
      {.from = kInitialTxn, .to = t1, .kind = EdgeKind::WriteWrite, .key = x, .to_op = OpId{0}});
  verdict.anomalies.push_back(anomaly);
  verdict.counts[static_cast<std::size_t>(AnomalyKind::FracturedRead)] = 1;
  return verdict;
}

TEST(VerdictChecksTest, ATrueVerdictPassesAndEveryChangeToItIsNoticed) {
  const History history = history_of("T1: w x 1, w y 2\nT2: r y nil, r x 1");
  EXPECT_EQ(complaint_about(history, fractured_read_verdict()), "");

  const auto changed = [&history](auto change) {
    Verdict verdict = fractured_read_verdict();
    change(verdict, verdict.anomalies[0].edges);
    return complaint_about(history, verdict);
  };
  EXPECT_NE(changed([](Verdict& v, auto&) { v.outcome = Outcome::Holds; }), "");
  EXPECT_NE(changed([](Verdict& v, auto&) { v.outcome = Outcome::Undecided; }), "");
  EXPECT_NE(changed([](Verdict& v, auto&) { v.level = Level::ReadCommitted; }), "");
  EXPECT_NE(changed([](Verdict& v, auto&) { v.anomalies.clear(); }), "");
  EXPECT_NE(changed([](Verdict& v, auto&) { v.counts = {}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges.clear(); }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges.pop_back(); }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[0].key = KeyId{0}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[0].read = OpId{3}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[0].saw = OpId{2}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[0].from_op = OpId{0}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[1].to_op = OpId{3}; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[1].kind = EdgeKind::WriteRead; }), "");
  EXPECT_NE(changed([](Verdict&, auto& edges) { edges[1].from = TxnId{1}; }), "");
}

TEST(VerdictChecksTest, SessionAndDependencyEdgesMustBeInTheHistory) {
  const History history = history_of("T1 @s1: r x 1\nT2 @s1: w x 1");
  const KeyId x{0};
  Verdict verdict{.level = Level::ReadCommitted, .outcome = Outcome::Violated};
  verdict.counts[static_cast<std::size_t>(AnomalyKind::DependencyCycle)] = 1;
  const Edge so{.from = TxnId{0}, .to = TxnId{1}, .kind = EdgeKind::Session};
  const Edge wr{.from = TxnId{1},
                .to = TxnId{0},
                .kind = EdgeKind::WriteRead,
                .key = x,
                .from_op = OpId{1},
                .to_op = OpId{0}};
  verdict.anomalies = {{.kind = AnomalyKind::DependencyCycle, .edges = {so, wr}}};
  EXPECT_EQ(complaint_about(history, verdict), "");
  const Edge backward{.from = TxnId{1}, .to = TxnId{0}, .kind = EdgeKind::Session};
  verdict.anomalies[0].edges = {so, backward};
  EXPECT_NE(complaint_about(history, verdict), "");
}

TEST(VerdictChecksTest, AVerdictThatHoldsNeedsAnOrderThatProvesIt) {
  const History history = history_of("T1 @s1: w x 1\nT2 @s2: r x 1");
  Verdict verdict{.level = Level::Causal, .outcome = Outcome::Holds, .order = {TxnId{0}, TxnId{1}}};
  EXPECT_EQ(complaint_about(history, verdict), "");
  verdict.order = {TxnId{1}, TxnId{0}};
  EXPECT_NE(complaint_about(history, verdict), "");
  verdict.order.clear();
  EXPECT_NE(complaint_about(history, verdict), "");
}

}  // namespace
}  // namespace ouro::oracle
