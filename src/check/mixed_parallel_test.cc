// Mixtures with parallel-si, with a decision that knows a few orders in place of an engine.

#include "check/mixed_parallel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T3 overwrote T2's y, and T4 saw T3 and reads x from T1. So T2's x is before T1's, or T2's y
// behind T3's. All are at parallel-si.
class MixedParallelTest : public testing::Test {
 protected:
  // Decides that `orders`, in which transactions have one-digit numbers, are all there are.
  Verdict decided(const std::vector<std::string>& orders) {
    const std::vector<Level> levels(4, Level::ParallelSi);
    const Mixture mixture{std::vector<Level>(4, Level::Causal), {}};
    MixedKnowledge knowledge(t_.observed(), mixture, levels, Budget());
    return decide_parallel(
        t_.observed(), knowledge,
        [&](std::span<const Edge> edges) {
          ++asked_;
          Verdict verdict{.level = Level::Mixed, .outcome = Outcome::Violated};
          for (const std::string& order : orders) {
            if (verdict.outcome == Outcome::Holds || !keeps(order, edges)) continue;
            verdict.outcome = Outcome::Holds;
            for (const char txn : order) {
              verdict.order.push_back(Tiny::txn(static_cast<std::size_t>(txn - '0')));
            }
          }
          if (verdict.outcome == Outcome::Violated) {
            verdict.anomalies.push_back(
                {.kind = AnomalyKind::ForbiddenCycle, .edges = {edges.begin(), edges.end()}});
          }
          return verdict;
        },
        Budget());
  }

  Tiny t_{"T1: w x 1\nT2: w x 2, w y 2\nT3: w y 3\nT4: r y 3, r x 1"};
  int asked_ = 0;

 private:
  static bool keeps(const std::string& order, std::span<const Edge> edges) {
    const auto place = [&](TxnId txn) { return order.find(static_cast<char>('1' + txn.index())); };
    return std::all_of(edges.begin(), edges.end(),
                       [&](const Edge& edge) { return place(edge.from) < place(edge.to); });
  }
};

TEST_F(MixedParallelTest, AnOrderInWhichNobodyMissedAnythingIsTheAnswer) {
  EXPECT_EQ(decided({"2134"}).outcome, Outcome::Holds);
  EXPECT_EQ(asked_, 1);
}

TEST_F(MixedParallelTest, AWrongOrderIsTurnedOnePairAfterTheOther) {
  EXPECT_EQ(decided({"1234", "2134"}).outcome, Outcome::Holds);
  EXPECT_GT(asked_, 1);
  asked_ = 0;
  EXPECT_EQ(decided({"1234", "1342"}).outcome, Outcome::Holds);
  EXPECT_GT(asked_, 1);
}

TEST_F(MixedParallelTest, IfNoWayIsLeftTheCasesAreTheProof) {
  const Verdict verdict = decided({"1234"});
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_FALSE(verdict.refutation.steps.empty());
  EXPECT_TRUE(verdict.refutation.steps.back().excluded.empty()) << "the last one excludes all";
}

TEST_F(MixedParallelTest, ViolatedWithoutAssumptionsIsViolated) {
  const Verdict verdict = decided({});
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_TRUE(verdict.refutation.steps.empty());
  EXPECT_EQ(asked_, 1);
}

}  // namespace
}  // namespace ouro
