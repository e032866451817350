#include "check/polygraph/trusting_order.h"

#include <gtest/gtest.h>

#include <string>

#include "check/observed/likely_order.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

// "T1 T2": the order at SER levels. "B1 C1": at the levels of snapshots.
std::string trusting(std::string_view text, Level level) {
  Tiny t(text);
  const Encoding encoding(t.observed(), level, 0, true, 1, Budget());
  const Digraph back = Digraph(encoding.node_count(), encoding.arcs()).reversed();
  const auto recorded = encoding.likely_order(likely_commit_order(t.history()));
  std::string out;
  for (const Node node : trusting_order(encoding, back, recorded, Budget())) {
    const TxnId txn = encoding.txn(node);
    if (txn == kInitialTxn) continue;
    const std::string name = Tiny::name(txn);
    out += out.empty() ? "" : " ";
    out += !encoding.split() ? name : (encoding.is_commit(node) ? "C" : "B") + name.substr(1);
  }
  return out;
}

constexpr std::string_view kLateReader = "T1 @a: w x 1\nT2 @b: w x 2\nT3 @c: w y 1\nT4 @d: r x 1";

TEST(TrustingOrderTest, AReaderComesBeforeWhoeverWroteTheNextVersion) {
  EXPECT_EQ(trusting(kLateReader, Level::Serializable), "T1 T4 T2 T3");
}

TEST(TrustingOrderTest, WhereTransactionsBeginApartOnlyTheBeginComesSooner) {
  EXPECT_EQ(trusting(kLateReader, Level::Si), "B1 C1 B2 B4 C2 B3 C3 C4");
}

TEST(TrustingOrderTest, WhatIsRecordedInAnOrderThatFitsStaysAsItIs) {
  EXPECT_EQ(trusting("T1 @a: w x 1\nT2 @b: r x 1\nT3 @c: w x 2\nT4 @d: r x 2", Level::Serializable),
            "T1 T2 T3 T4");
}

TEST(TrustingOrderTest, ReadersOfTheInitialVersionComeBeforeAllWriters) {
  EXPECT_EQ(trusting("initial 0\nT1 @a: w x 1\nT2 @b: r x 0", Level::Serializable), "T2 T1");
}

TEST(TrustingOrderTest, CyclesLeaveNobodyOut) {
  // As recorded, T3 comes before T2, and T4 before T1; but T3 read from T4, and T4 from T2.
  EXPECT_EQ(trusting("T1 @a: w x 1\nT2 @b: w x 2, w z 1\nT3 @c: r x 1, r y 1\nT4 @d: r z 1, w y 1",
                     Level::Serializable)
                .size(),
            std::string("T1 T2 T3 T4").size());
}

}  // namespace
}  // namespace ouro
