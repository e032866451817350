// A refutation by hand: every way to order the writers of two keys fails. If any part of it is left
// out, it is rejected.

#include "certify/refutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

// T3 read x of T1 and y of T2. If T1 wrote x first, T3 is before T2, from which it read; if T2
// wrote y first, T3 is before T1, from which it read; and if neither, they contradict each other.
class RefutationTest : public testing::Test {
 protected:
  RefutationTest() {
    refutation_.choices = {{x_, TxnId{0}, TxnId{1}}, {y_, TxnId{0}, TxnId{1}}};
    const Edge x_of_first = edge(EdgeKind::WriteRead, 0, 2, x_, 0, 4);
    const Edge y_of_second = edge(EdgeKind::WriteRead, 1, 2, y_, 3, 5);
    refutation_.steps = {
        {{{0, false}}, {edge(EdgeKind::ReadWrite, 2, 1, x_, 4, 2, 0), y_of_second}, {}},
        {{{1, true}}, {edge(EdgeKind::ReadWrite, 2, 0, y_, 5, 1, 1), x_of_first}, {}},
        {{{0, true}, {1, false}},
         {edge(EdgeKind::WriteWrite, 1, 0, x_, 2, 0, 0),
          edge(EdgeKind::WriteWrite, 0, 1, y_, 1, 3, 1)},
         {}},
        {{}, {}, {0, 1, 2}}};
  }

  static Edge edge(EdgeKind kind, std::size_t from, std::size_t to, KeyId key, std::size_t from_op,
                   std::size_t to_op, std::uint32_t choice = Edge::kNoChoice) {
    return {.from = TxnId{from},
            .to = TxnId{to},
            .kind = kind,
            .key = key,
            .from_op = OpId{from_op},
            .to_op = OpId{to_op},
            .choice = choice};
  }
  [[nodiscard]] std::string said() const { return complaint(refutation_, cycles_); }

  const History history_ =
      oracle::history_of("T1 @a: w x 1, w y 1\nT2 @b: w x 2, w y 2\nT3 @c: r x 1, r y 2\n");
  const Result<Reading> reading_ = Reading::of(history_);
  const PredicateReads predicates_{*reading_, PredicateReads::Seeing::Start};
  const Cycles cycles_{*reading_, predicates_, Level::Serializable, 0};
  const KeyId x_ = history_.op(OpId{0}).key;
  const KeyId y_ = history_.op(OpId{1}).key;
  Refutation refutation_;
};

TEST_F(RefutationTest, IsAccepted) { EXPECT_EQ(said(), ""); }

TEST_F(RefutationTest, MustEndWithNothingLeft) {
  refutation_.steps.pop_back();
  EXPECT_EQ(said(), "the refutation does not end");
  refutation_.steps.clear();
  EXPECT_EQ(said(), "the refutation does not end");
}

TEST_F(RefutationTest, EveryPremiseIsNeeded) {
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint32_t>& premises = refutation_.steps.back().premises;
    const auto all = premises;
    premises.erase(premises.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(said(), HasSubstr("step 4: ")) << i;
    premises = all;
  }
  refutation_.steps.back().premises = {0, 1, 2, 0};
  EXPECT_THAT(said(), HasSubstr("goes on after it is proven"));
  refutation_.steps.back().premises = {3};
  EXPECT_THAT(said(), HasSubstr("rests on a step that is not before it"));
}

TEST_F(RefutationTest, ACycleRestsOnTheSidesThatItExcludes) {
  refutation_.steps[0].excluded = {{0, true}};
  EXPECT_THAT(said(), HasSubstr("step 1: "));
  refutation_.steps[0].excluded = {{1, false}};
  EXPECT_THAT(said(), HasSubstr("rests on a choice that was not made"));
  refutation_.steps[0].excluded = {{0, false}, {0, true}};
  EXPECT_THAT(said(), HasSubstr("names a choice twice"));
  refutation_.steps[0].excluded = {{7, false}};
  EXPECT_THAT(said(), HasSubstr("there is no such choice"));
}

TEST_F(RefutationTest, ChoicesMustBeBetweenWriters) {
  refutation_.choices[1].second = TxnId{2};
  EXPECT_THAT(said(), HasSubstr("choice 2 "));
}

// T3 read a value that both others wrote.
class OpenReadTest : public testing::Test {
 protected:
  [[nodiscard]] std::string about(const Choice& choice, Level level) const {
    return Cycles(*reading_, predicates_, level, 0).complaint(choice);
  }
  // What is wrong with excluding some sides of Source(T1), Source(T2), Sees(T2) and T1 before T2.
  [[nodiscard]] std::string excluding(std::vector<ChoiceSide> sides) const {
    return Cycles(*reading_, predicates_, Level::Serializable, 0).complaint(choices_, sides);
  }

  const History history_ = oracle::history_of("T1 @a: w x 1\nT2 @b: w x 1\nT3 @c: r x 1\n");
  const Result<Reading> reading_ = Reading::of(history_);
  const PredicateReads predicates_{*reading_, PredicateReads::Seeing::Start};
  const KeyId x_ = history_.op(OpId{0}).key;
  const std::vector<Choice> choices_{
      {x_, TxnId{0}, {}, ChoiceKind::Source, OpId{2}},
      {x_, TxnId{1}, {}, ChoiceKind::Source, OpId{2}},
      {x_, TxnId{1}, TxnId{2}, ChoiceKind::Sees, OpId{2}},
      {x_, TxnId{0}, TxnId{1}, ChoiceKind::Order, {}},
  };
};

TEST_F(OpenReadTest, WhatATransactionSeesIsAChoiceOnlyWhereTheLevelOrdersIt) {
  for (const Level level : {Level::Serializable, Level::Si, Level::Prefix}) {
    EXPECT_EQ(about(choices_[2], level), "") << info(level).name;
  }
  for (const Level level : {Level::ParallelSi, Level::Causal, Level::ReadCommitted}) {
    EXPECT_THAT(about(choices_[2], level), HasSubstr("the level does not order"))
        << info(level).name;
  }
}

TEST_F(OpenReadTest, SomeSourceMustBeLeftOut) {
  EXPECT_EQ(excluding({{0, true}, {1, true}}), "");
  EXPECT_NE(excluding({{0, true}}), "");
  EXPECT_EQ(excluding({{0, false}, {1, false}}), "");  // It cannot have returned both.
}

TEST_F(OpenReadTest, ALaterVersionCannotBeSeen) {
  EXPECT_EQ(excluding({{0, false}, {2, false}, {3, false}}), "");
  EXPECT_NE(excluding({{0, false}, {2, false}, {3, true}}), "");
  EXPECT_NE(excluding({{0, false}, {2, true}, {3, false}}), "");
  EXPECT_NE(excluding({{0, false}, {2, false}}), "");
}

}  // namespace
}  // namespace ouro::recheck
