#include "check/observed/items.h"

#include <gtest/gtest.h>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(ItemsTest, WithoutPredicatesItemsAreTheOperations) {
  const Tiny t("T1: w x 1, r y nil\nT2: r x 1");
  ASSERT_EQ(t.items().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(t.items().op(ItemId{i}), OpId{i});
  EXPECT_EQ(t.items().first(Tiny::txn(2)), ItemId{2});
  EXPECT_EQ(t.items().end(Tiny::txn(2)), ItemId{3});
}

// 1 and 2 are known keys of the range, 5 is outside.
TEST(ItemsTest, ByVersionsAScanReadsEveryKnownKeyOfItsRange) {
  const Tiny t(R"({"session":1,"ops":[["w",1,10],["w",2,20],["w",5,50]]}
{"session":2,"ops":[["scan",1,3,[[2,20]]]]})",
               Evidence::Versions);
  const Items& items = t.items();
  ASSERT_EQ(items.size(), 5u);
  std::size_t absent = 0;
  for (ItemId i = items.first(Tiny::txn(2)); i < items.end(Tiny::txn(2)); ++i.value) {
    EXPECT_TRUE(items.is_read(i));
    EXPECT_EQ(items.op(i), OpId{3});
    EXPECT_EQ(items.is_absence(i), items.key(i) == t.key("1"));
    absent += items.is_absence(i) ? 1 : 0;
  }
  EXPECT_EQ(absent, 1u);
}

TEST(ItemsTest, ByObservationKeysThatAScanDidNotReturnAreReadsIfAskedForOrWrittenBefore) {
  const Tiny t(R"({"session":1,"ops":[["w",1,10],["w",2,20],["w",3,30]]}
{"session":2,"ops":[["d",1],["scan",1,3,[[2,20]]]]})");
  const auto keys = [&](const Items& items) {
    std::vector<KeyId> out;
    for (ItemId i = items.first(Tiny::txn(2)); i < items.end(Tiny::txn(2)); ++i.value) {
      if (items.is_absence(i)) out.push_back(items.key(i));
    }
    return out;
  };
  EXPECT_EQ(keys(t.items()), std::vector{t.key("1")});
  const std::vector<ReadKey> asked{{OpId{4}, t.key("3")}};
  const Items more(t.history(), Budget(), Evidence::Observed, asked);
  EXPECT_EQ(keys(more), (std::vector{t.key("3"), t.key("1")}));
}

TEST(ItemsTest, AnAbsenceIsNoReadOfASingleKey) {
  const Tiny t(R"({"session":1,"ops":[["r",1,null],["scan",1,1,[]]]})", Evidence::Versions);
  EXPECT_FALSE(t.items().is_absence(t.item(1, 1)));
  EXPECT_TRUE(t.items().is_absence(t.item(1, 2)));
}

TEST(ItemsTest, ScansMayListTombstones) {
  const auto lists = [](const char* rows) {
    const std::string scan = std::string(R"({"session":2,"ops":[["scan",1,9,)") + rows + "]]}";
    return scans_list_tombstones(Tiny(R"({"session":1,"ops":[["d",1,7]]})"
                                      "\n" +
                                      scan)
                                     .history());
  };
  EXPECT_TRUE(lists("[[1,7]]"));
  EXPECT_FALSE(lists("[]"));
}

}  // namespace
}  // namespace ouro
