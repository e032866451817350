// The search on demand, on histories of a few transactions.

#include "check/polygraph/search.h"

#include <gtest/gtest.h>

#include "tests/tiny_search.h"

namespace ouro {
namespace {

constexpr char kTwoReaders[] = "T1: w x 1\nT2: w x 2\nT3: r x 1\nT4: r x 2";

TEST(SearchTest, WhereTheOrderIsRightNothingIsChosen) {
  TinySearch s(kTwoReaders, Level::Serializable, {}, {0, 2, 1, 3});
  EXPECT_EQ(s.solver.solve(s.search), Solution::Found);
  EXPECT_EQ(s.solver.choice_count(), 0u);
}

TEST(SearchTest, WhereNeighboursRunBackwardTheyAreOrdered) {
  TinySearch s(kTwoReaders, Level::Serializable, {}, {0, 1, 2, 3});
  EXPECT_EQ(s.solver.solve(s.search), Solution::Found);
  EXPECT_EQ(s.solver.choice_count(), 1u);
  const bool first = s.order.position(0) < s.order.position(1);
  EXPECT_LT(s.order.position(first ? 2 : 3), s.order.position(first ? 1 : 0))
      << "a reader is before the next writer";
}

TEST(SearchTest, WhatNoOrderKeepsIsRefuted) {
  TinySearch s("T1: w x 1, w y 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2\nT4: r x 2, r y 1");
  EXPECT_EQ(s.solver.solve(s.search), Solution::None);
  EXPECT_EQ(s.search.pairs().size(), s.solver.choice_count());
}

TEST(SearchTest, ChainsStandInTheOrderOfTheirFirstWriters) {
  TinySearch s("T1: w x 1\nT2: w x 2\nT3: r x 2, w x 3\nT4: w x 4", Level::Serializable, {},
               {3, 0, 1, 2});
  const ChainId one = s.chain_of(1);
  const ChainId two = s.encoding.chain_at(s.t.item(2, 1));
  const ChainId four = s.chain_of(4);
  EXPECT_EQ(s.search.neighbour(four, 1), one);
  EXPECT_EQ(s.search.neighbour(one, 1), two);
  EXPECT_EQ(s.search.neighbour(two, 1), kNoChain);
  EXPECT_TRUE(s.search.is_initial(s.search.neighbour(four, -1)));
  EXPECT_EQ(s.search.last_chain(s.t.key("x"), s.encoding.begin(Tiny::txn(2))), one);
  EXPECT_EQ(s.search.span(one, two), 0u);
  EXPECT_NE(s.search.span(two, one), 0u);
}

TEST(SearchTest, TwoChainsHaveOneChoice) {
  TinySearch s(kTwoReaders);
  const Literal forth = s.search.literal(s.solver, s.chain_of(1), s.chain_of(2));
  const Literal back = s.search.literal(s.solver, s.chain_of(2), s.chain_of(1));
  EXPECT_EQ(s.solver.choice_count(), 1u);
  EXPECT_EQ(back, !forth);
  EXPECT_EQ(s.search.literal(s.solver, s.chain_of(1), s.chain_of(2)), forth);
}

}  // namespace
}  // namespace ouro
