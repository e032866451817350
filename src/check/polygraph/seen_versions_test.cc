// Which versions of a key with open reads transactions see, in the order of their numbers.

#include "check/polygraph/seen_versions.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny_search.h"

namespace ouro {
namespace {

// T1, T3 and T5 write x, T3 overwrites what it read from T1. T2 and T4 have open reads.
struct SeenFive : TinySearch {
  SeenFive()
      : TinySearch("T1: w x 1\nT2: r x 7\nT3: r x 1, w x 7\nT4: r x 7\nT5: w x 7",
                   Level::Serializable, {.sources = true}) {}
  // The version of x that `txn` sees last; "-" is none at all.
  [[nodiscard]] std::string last_seen(std::size_t txn) {
    return name(search.seen()->last_seen(t.key("x"), Tiny::txn(txn)));
  }
  [[nodiscard]] std::string name(VersionId version) const {
    return version == kNoVersion ? "-" : Tiny::name((*search.seen())[version].writer);
  }
};

TEST(SeenVersionsTest, ATransactionSeesTheLastVersionBeforeIt) {
  SeenFive s;
  ASSERT_NE(s.search.seen(), nullptr);
  EXPECT_EQ(s.last_seen(1), "T0");
  EXPECT_EQ(s.last_seen(2), "T1");
  EXPECT_EQ(s.last_seen(4), "T3");
  EXPECT_EQ(s.last_seen(5), "T3");
}

TEST(SeenVersionsTest, VersionsHaveNeighboursInTheOrder) {
  SeenFive s;
  const VersionId three = s.search.seen()->last_seen(s.t.key("x"), Tiny::txn(4));
  EXPECT_EQ(s.name(s.search.seen()->before(three)), "T1");
  EXPECT_EQ(s.name(s.search.seen()->behind(three)), "T5");
  EXPECT_EQ(s.name(s.search.seen()->behind(s.search.seen()->behind(three))), "-");
  const VersionId first = s.search.seen()->before(s.search.seen()->before(three));
  EXPECT_EQ(s.name(first), "T0");
  EXPECT_EQ(s.name(s.search.seen()->before(first)), "-");
  EXPECT_EQ(s.search.seen()->position(first), 0u);
  EXPECT_LT(s.search.seen()->position(three), s.search.seen()->begin(Tiny::txn(4)));
}

TEST(SeenVersionsTest, WithoutOpenReadsThereAreNone) {
  EXPECT_EQ(TinySearch("T1: w x 1\nT2: r x 1").search.seen(), nullptr);
}

}  // namespace
}  // namespace ouro
