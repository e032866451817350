#include "check/observed/key_ranges.h"

#include <gtest/gtest.h>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(KeyRangesTest, AccessesOfAKeyStandTogetherInTheOrderOfTheirItems) {
  const Tiny t("T1: w x 1, w y 2\nT2 aborted: r x 1, w y 3\nT3: w x 4");
  Column<TxnId> item_txn;
  const Budget budget;
  const KeyRanges ranges(t.history(), t.items(), 1, budget, item_txn);
  std::vector<std::string> all;
  std::vector<Access> accesses;
  for (std::size_t range = 0; range < ranges.count(); ++range) {
    ASSERT_TRUE(ranges.sort(range, accesses));
    for (const Access& access : accesses) {
      EXPECT_EQ(item_txn[access.item.index()], access.txn);
      EXPECT_EQ(access.aborted, access.txn == Tiny::txn(2));
      all.push_back(t.history().key_label(access.key) + t.name(access.item));
    }
  }
  EXPECT_EQ(all, (std::vector<std::string>{"xT1.1", "xT2.1", "xT3.1", "yT1.2", "yT2.2"}));
  EXPECT_EQ(ranges.key_first(), (std::vector<std::uint32_t>{0, 3, 5}));
}

}  // namespace
}  // namespace ouro
