#include "explain/mirrors.h"

#include <gtest/gtest.h>

#include "tests/small_histories.h"

namespace ouro {
namespace {

using oracle::history_of;

// Two transactions that each read what the other one overwrote.
class MirrorsTest : public testing::Test {
 protected:
  // `reader` missed the write of `writer`, number `read` and `write` of the history.
  [[nodiscard]] Edge missed(std::size_t read, std::size_t write) const {
    return {.from = history.txn_of(OpId{read}),
            .to = history.txn_of(OpId{write}),
            .kind = EdgeKind::ReadWrite,
            .key = history.op(OpId{write}).key,
            .from_op = OpId{read},
            .to_op = OpId{write}};
  }

  const History history = history_of(
      "T1: r x 0, w y 1\n"
      "T2: r y 0, w x 1\n"
      "T3: r x 0, w z 1\n"
      "T4: r z 0, append l 1\n");
};

TEST_F(MirrorsTest, TransactionsAndKeysMayBeSwapped) {
  std::vector<Case> cases(2);
  cases[0].cycle = {missed(0, 3), missed(2, 1)};
  cases[1].cycle = {missed(2, 1), missed(0, 3)};
  find_mirrors(cases, history);
  EXPECT_EQ(cases[1].mirrors, 0u);
  using Txns = std::vector<Renamed<TxnId>>;
  EXPECT_EQ(cases[1].other_txns, (Txns{{TxnId{0}, TxnId{1}}, {TxnId{1}, TxnId{0}}}));
  EXPECT_EQ(cases[1].other_keys.size(), 2u);
}

TEST_F(MirrorsTest, OthersMayStandInTheirPlace) {
  std::vector<Case> cases(2);
  cases[0].cycle = {missed(0, 3)};
  cases[1].cycle = {missed(4, 3)};
  find_mirrors(cases, history);
  EXPECT_EQ(cases[1].mirrors, 0u);
  EXPECT_EQ(cases[1].other_txns, (std::vector<Renamed<TxnId>>{{TxnId{0}, TxnId{2}}}));
  EXPECT_TRUE(cases[1].other_keys.empty());
}

TEST_F(MirrorsTest, WhatDiffersIsNoMirror) {
  std::vector<Case> cases(2);
  cases[0].cycle = {missed(0, 3)};
  cases[1].cycle = {missed(4, 7)};  // An append.
  find_mirrors(cases, history);
  EXPECT_FALSE(cases[1].mirrors);
  cases[1].cycle = {missed(0, 3)};  // The same case: nothing has another name.
  find_mirrors(cases, history);
  EXPECT_FALSE(cases[1].mirrors);
  cases[1].cycle = {missed(4, 3)};
  cases[1].given = {{history.op(OpId{3}).key, TxnId{0}, TxnId{1}}};
  find_mirrors(cases, history);
  EXPECT_FALSE(cases[1].mirrors) << "it supposes more";
  cases[0].given = {{history.op(OpId{3}).key, TxnId{1}, TxnId{0}}};
  find_mirrors(cases, history);
  EXPECT_FALSE(cases[1].mirrors) << "it supposes something else";
}

}  // namespace
}  // namespace ouro
