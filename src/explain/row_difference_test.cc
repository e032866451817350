#include "explain/row_difference.h"

#include <gtest/gtest.h>

#include "ouro/format.h"

namespace ouro {
namespace {

TEST(RowDifferenceTest, RowsAreComparedAsTheyAreWritten) {
  const auto history = parse_history(
      R"({"session":"a","ops":[["w","k]\"[",{"c":"],[","d":"\\"}],["w",2,5],["w",3,6]]}
{"session":"b","ops":[["scan",null,null,[[2,5],[3,7]]]]}
)");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const OpId scan{3};
  const Op write = history->op(OpId{0});
  const std::string odd = row_text(*history, {write.key, write.value});
  const RowDifference found = row_difference(*history, scan, "[[2,5]," + odd + ",[3,6]]");
  EXPECT_EQ(found.missed, (std::vector<std::string>{odd, "[3,6]"}));
  ASSERT_EQ(found.surplus.size(), 1u);
  EXPECT_EQ(row_text(*history, found.surplus[0]), "[3,7]");
  const std::vector<OpId> ops{OpId{0}, OpId{1}, OpId{2}};
  EXPECT_EQ(write_of_row(*history, ops, odd), OpId{0});
  EXPECT_EQ(write_of_row(*history, ops, "[3,6]"), OpId{2});
  EXPECT_FALSE(write_of_row(*history, ops, "[3,7]").valid());
  EXPECT_EQ(row_difference(*history, scan, "[]").surplus.size(), 2u);
  EXPECT_TRUE(row_difference(*history, scan, "[]").missed.empty());
}

}  // namespace
}  // namespace ouro
