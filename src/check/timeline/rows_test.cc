#include "check/timeline/rows.h"

#include <gtest/gtest.h>

#include "ouro/format.h"

namespace ouro {
namespace {

// Rows 1 to 3 with column p, and reads by which they are asked for.
class RowsTest : public testing::Test {
 protected:
  RowsTest() {
    for (OpId op{0}; op < history_.end_op(TxnId{0}); ++op.value) {
      rows_.set(history_.op(op).key, {history_.op(op).value, true});
    }
  }
  // What the n-th predicate read should return.
  std::string selected(std::size_t n) {
    const OpId op{history_.first_op(TxnId{1}).index() + n};
    return rows_text(history_, rows_.selected(history_.op(op).kind, history_.predicate_read(op)));
  }

  const History history_ = *parse_history(
      R"({"session":1,"ops":[["w",1,{"p":5}],["w",2,{"p":7}],["w",3,{"p":9}]]}
{"session":2,"ops":[["scan",2,9,[]],["select",{"ge":["p",7]},[]],["select",{"eq":["p",5]},[]],["select",true,[]]]})",
      {.format = Format::Native, .threads = 1});
  const ListKeys lists_ = *ListKeys::of(history_, 1);
  Rows rows_{history_, lists_};
};

TEST_F(RowsTest, AScanReturnsItsRange) { EXPECT_EQ(selected(0), R"([[2,{"p":7}],[3,{"p":9}]])"); }

TEST_F(RowsTest, ASelectReturnsTheRowsForWhichItIsTrue) {
  EXPECT_EQ(selected(1), R"([[2,{"p":7}],[3,{"p":9}]])");
  EXPECT_EQ(selected(2), R"([[1,{"p":5}]])");
  EXPECT_EQ(selected(3), R"([[1,{"p":5}],[2,{"p":7}],[3,{"p":9}]])");
}

TEST_F(RowsTest, AnIndexFollowsChanges) {
  EXPECT_EQ(selected(2), R"([[1,{"p":5}]])") << "makes the index";
  rows_.set(KeyId{0}, {history_.op(OpId{1}).value, true});
  EXPECT_EQ(selected(2), "[]");
  EXPECT_EQ(selected(1), R"([[1,{"p":7}],[2,{"p":7}],[3,{"p":9}]])");
}

TEST_F(RowsTest, DeletedRowsAreNotSelected) {
  rows_.set(KeyId{1}, {Value::null(), false});
  EXPECT_EQ(selected(0), R"([[3,{"p":9}]])");
}

}  // namespace
}  // namespace ouro
