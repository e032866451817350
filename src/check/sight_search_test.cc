// Predicate reads of which it is open what they saw, with a decision in place of an engine.

#include "check/sight_search.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 and T2 write n = 1 and n = 2 into k; the select of T3 saw no n = 1.
class SightSearchTest : public testing::Test {
 protected:
  // Decides that the order T1 T3 T2 is the only one if no edge is given; with edges what `with`
  // says.
  Verdict searched(const std::function<Outcome(const std::string&)>& with) {
    const auto predicates = PredicateReads::read(t_.observed(), SnapshotAt::Start, Budget(), 1);
    EXPECT_TRUE(predicates.ok());
    return search_sights(
        t_.observed(), *predicates, Level::Serializable,
        [&](std::vector<PredicateEdge> edges) {
          std::string said;
          for (const PredicateEdge& edge : edges) {
            said += (edge.overwrites ? "rw " : "wr ") + Tiny::name(t_.observed().txn(edge.write));
          }
          asked_ += said + ";";
          Settled out{.verdict = {.level = Level::Serializable}, .edges = edges};
          out.verdict.outcome = with(said);
          if (said == "rw T1") {
            out.verdict.order = {TxnId{2}, TxnId{0}, TxnId{1}};
          } else if (said == "wr T2") {
            out.verdict.order = {TxnId{0}, TxnId{1}, TxnId{2}};
          } else {
            out.verdict.order = {TxnId{0}, TxnId{2}, TxnId{1}};
          }
          return out;
        },
        Budget());
  }

  Tiny t_{R"({"session":1,"ops":[["w","k",{"n":1}]]})"
          "\n"
          R"({"session":2,"ops":[["w","k",{"n":2}]]})"
          "\n"
          R"({"session":3,"ops":[["select",{"eq":["n",1]},[]]]})"
          "\n"
          R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})",
          Evidence::Versions};
  std::string asked_;
};

TEST_F(SightSearchTest, ViolatedWithoutTheReadsIsViolated) {
  EXPECT_EQ(searched([](const std::string&) { return Outcome::Violated; }).outcome,
            Outcome::Violated);
  EXPECT_EQ(asked_, ";");
}

TEST_F(SightSearchTest, TheLevelHoldsIfItDoesInSomeCase) {
  for (const std::string possible : {"rw T1", "wr T2"}) {
    asked_.clear();
    const Verdict verdict = searched([&](const std::string& said) {
      return said.empty() || said == possible ? Outcome::Holds : Outcome::Violated;
    });
    EXPECT_EQ(verdict.outcome, Outcome::Holds) << asked_;
  }
}

TEST_F(SightSearchTest, RefutedCasesAreTheProof) {
  const Verdict verdict = searched(
      [](const std::string& said) { return said.empty() ? Outcome::Holds : Outcome::Violated; });
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  ASSERT_EQ(verdict.cases.size(), 2u);
  EXPECT_NE(verdict.cases[0].sights[0].seen, verdict.cases[1].sights[0].seen);
}

TEST_F(SightSearchTest, AnUndecidedCaseLeavesAllUndecided) {
  const Verdict verdict = searched(
      [](const std::string& said) { return said.empty() ? Outcome::Holds : Outcome::Undecided; });
  EXPECT_EQ(verdict.outcome, Outcome::Undecided);
}

TEST(AllowedVersionsTest, OnlyLevelsWithMomentsAskForWhatIsThereAtTheBegin) {
  EXPECT_EQ(allowed_versions(Level::Serializable), UnplacedReads::Allowed::AtBegin);
  EXPECT_EQ(allowed_versions(Level::Si), UnplacedReads::Allowed::AtBegin);
  EXPECT_EQ(allowed_versions(Level::Causal), UnplacedReads::Allowed::UntilBegin);
  EXPECT_EQ(allowed_versions(Level::RepeatableRead), UnplacedReads::Allowed::UntilBegin);
}

}  // namespace
}  // namespace ouro
