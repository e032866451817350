#include "check/observed/observed.h"

#include <gtest/gtest.h>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(ObservedTest, UnknownTransactionsCountOnceSomebodyWhoCountsSawThem) {
  Tiny t("T1 unknown: w x 1\nT2 unknown: r x 1, w y 2\nT3: r y 2\nT4 unknown: w z 3\nT5 aborted:");
  std::string counted;
  for (std::size_t i = 1; i <= 5; ++i) counted += t.observed().counted(Tiny::txn(i)) ? '1' : '0';
  EXPECT_EQ(counted, "11100");
  EXPECT_EQ(t.observed().counted_count(), 3u);
}

TEST(ObservedTest, ItemsOfAKeyAreSortedWithALinkForEach) {
  Tiny t("T1: w x 1, w x 2\nT2: w y 3, r x 2");
  const KeyId x = t.key("x");
  const auto items = t.observed().items_of(x);
  const auto links = t.observed().links_of(x);
  ASSERT_EQ(items.size(), 3u);
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].source, KeyLink::kOtherWrite);
  EXPECT_EQ(links[1].source, KeyLink::kFinalWrite);
  EXPECT_EQ(links[2].source, 1u) << "the place of the write among the items";
  EXPECT_EQ(links[2].txn, Tiny::txn(2));
}

TEST(ObservedTest, TheFinalWriteIsTheLastOfTheKey) {
  Tiny t("T1: w x 1, w x 2, w y 3, r x 2");
  EXPECT_EQ(t.name(final_write(t.observed(), Tiny::txn(1), t.key("x"))), "T1.2");
  EXPECT_EQ(t.name(final_write(t.observed(), Tiny::txn(1), t.key("y"))), "T1.3");
  Tiny reader("T1: r x nil");
  EXPECT_FALSE(final_write(reader.observed(), Tiny::txn(1), reader.key("x")).valid());
}

TEST(ObservedTest, PredicateEdgesAreExplainedByTheirOperations) {
  Tiny t(R"({"session":1,"ops":[["w",1,10]]}
{"session":2,"ops":[["scan",1,3,[]]]})");
  Edge edge;
  EXPECT_FALSE(explain_predicate(t.observed(), Tiny::txn(2), Tiny::txn(1), true, edge));
  t.observed().set_predicate_edges({{Tiny::txn(2), OpId{1}, t.item(1, 1), true}});
  ASSERT_TRUE(explain_predicate(t.observed(), Tiny::txn(2), Tiny::txn(1), true, edge));
  EXPECT_EQ(Tiny::text({&edge, 1}), "T2 rw T1");
  EXPECT_EQ(edge.from_op, OpId{1});
  EXPECT_EQ(edge.to_op, OpId{0});
}

TEST(ObservedTest, AnExhaustedBudgetStopsIt) {
  const Tiny t("T1: w x 1");
  const std::atomic<bool> cancelled = true;
  const auto observed =
      Observed::observe(t.history(), Budget(std::chrono::milliseconds(0), &cancelled), 1);
  ASSERT_TRUE(observed.ok());
  EXPECT_TRUE(observed->stopped());
}

}  // namespace
}  // namespace ouro
