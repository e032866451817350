// Reads of which the history does not say what they saw, compared with orders.

#include "check/versions/unplaced_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tiny.h"

namespace ouro {
namespace {

// T1 writes n = 1 into j and k, T2 n = 2; T3 reads.
class UnplacedTest : public testing::Test {
 protected:
  void ask(const std::string& read) {
    t_.emplace(R"({"session":1,"ops":[["w","j",{"n":1}],["w","k",{"n":1}]]})"
               "\n"
               R"({"session":2,"ops":[["w","j",{"n":2}],["w","k",{"n":2}]]})"
               "\n"
               R"({"session":3,"ops":[)" +
                   read +
                   "]}\n"
                   R"({"key":"j","versions":[{"n":1},{"n":2}],"complete":true})"
                   "\n"
                   R"({"key":"k","versions":[{"n":1},{"n":2}],"complete":true})",
               Evidence::Versions);
    rows_.emplace(t_->observed());
    read_ = {TxnId{2}, OpId{4}};
    rows_->prepare(t_->history().predicate_read(read_.op).predicate);
  }
  [[nodiscard]] UnplacedReads reads() { return {t_->observed(), *rows_, {&read_, 1}}; }
  // The comparison with an order in which T3 comes behind so many of T1 and T2.
  UnplacedReads::Finding behind(std::uint32_t count,
                                UnplacedReads::Allowed allowed = UnplacedReads::Allowed::AtBegin,
                                std::vector<Sight> sights = {}) {
    std::vector<std::uint32_t> at(3);
    for (std::uint32_t t = 0; t < 2; ++t) at[t] = t < count ? t : t + 1;
    at[2] = count;
    return reads().compare({at, at}, allowed, sights, Budget());
  }
  // "T1 wr, T2 rw".
  std::string text(const std::vector<PredicateEdge>& edges) {
    std::string out;
    for (const PredicateEdge& edge : edges) {
      out += (out.empty() ? "" : ", ") + Tiny::name(t_->observed().txn(edge.write)) +
             (edge.overwrites ? " rw" : " wr");
    }
    return out;
  }

  std::optional<Tiny> t_;
  std::optional<RowVersions> rows_;
  PredicateReads::Seen read_;
};

TEST_F(UnplacedTest, AnOrderThatGivesTheResultFits) {
  ask(R"(["aggregate","sum","n",true,2])");
  EXPECT_FALSE(behind(1).misfit.valid());
  EXPECT_TRUE(behind(0).misfit.valid());
  EXPECT_TRUE(behind(2).misfit.valid());
  EXPECT_FALSE(behind(2, UnplacedReads::Allowed::UntilBegin).misfit.valid())
      << "it may have seen older versions";
  EXPECT_TRUE(behind(0, UnplacedReads::Allowed::UntilBegin).misfit.valid());
}

TEST_F(UnplacedTest, WhatNoVersionsGiveIsImpossible) {
  ask(R"(["aggregate","sum","n",true,5])");
  EXPECT_EQ(behind(1).impossible, OpId{4});
  EXPECT_EQ(reads().certain(Budget()).impossible, OpId{4});
}

TEST_F(UnplacedTest, AResultThatNeedsOneVersionGivesEdges) {
  ask(R"(["aggregate","sum","n",true,4])");
  EXPECT_EQ(text(behind(1).edges), "T2 wr, T2 wr");
  ask(R"(["aggregate","sum","n",true,null])");
  EXPECT_EQ(text(behind(1).edges), "T1 rw, T1 rw");
  EXPECT_EQ(text(reads().certain(Budget()).edges), "T1 rw, T1 rw");
  ask(R"(["select",{"ge":["n",1]},[]])");
  EXPECT_EQ(text(reads().certain(Budget()).edges), "T1 rw, T1 rw");
  EXPECT_FALSE(reads().certain(Budget()).open.valid()) << "only what was there first fits";
}

TEST_F(UnplacedTest, WhereSeveralVersionsFitThereIsAChoice) {
  ask(R"(["select",{"eq":["n",1]},[]])");
  const auto finding = behind(1);
  EXPECT_TRUE(finding.edges.empty());
  ASSERT_EQ(finding.open.size(), 1u) << "before T1 or behind T2";
  EXPECT_TRUE(reads().certain(Budget()).open.valid());
}

TEST_F(UnplacedTest, ASightIsTakenForGranted) {
  ask(R"(["select",{"eq":["n",1]},[]])");
  const KeyId k = t_->key("k");
  const Sight late{.read = OpId{4}, .key = k, .position = 2, .seen = true};
  const Sight early{.read = OpId{4}, .key = k, .position = 1, .seen = false};
  EXPECT_EQ(text(reads().edges_of({&late, 1})), "T2 wr");
  EXPECT_EQ(text(reads().edges_of({&early, 1})), "T1 rw");
  const std::vector<Sight> both = {late, early};
  EXPECT_EQ(behind(1, UnplacedReads::Allowed::AtBegin, both).impossible, OpId{4});
}

TEST_F(UnplacedTest, OwnWritesSettleTheirRows) {
  ask(R"(["aggregate","sum","n",{"gt":["n",5]},null])");
  EXPECT_FALSE(behind(1).misfit.valid()) << "nothing ever matches";
}

}  // namespace
}  // namespace ouro
