// The rows of a small table, and what predicate reads give over them.

#include "certify/rows.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// Keys k1 and k2 are rows at the start; operations 0 to 2 write, delete and append.
class RecheckTableTest : public testing::Test {
 protected:
  static History make(const std::string& reads) {
    return oracle::history_of(
        R"({"key":"k1","initial":{"n":1}})"
        "\n"
        R"({"key":"k2","initial":{"n":2}})"
        "\n"
        R"({"session":"a","ops":[["w","k3",{"n":3}],["d","k1","gone"],["append","l",1]]})"
        "\n"
        R"({"session":"b","ops":[)" +
        reads + "]}\n");
  }
  // Whether the only read of a table as it is at the start, or after the writes, is right.
  static bool returns(const std::string& read, bool after = false) {
    const History history = make(read);
    const RowIndex index(history);
    Table table(history, index);
    for (std::size_t i = 0; after && i < 3; ++i) table.apply(history.op(OpId{i}));
    return table.returned_right(OpId{3});
  }
  // "k1 k2": the keys that the only read selects, before and after the writes.
  static std::string selected(const History& history, const Table& table) {
    std::string out;
    for (const KeyVersion& row : table.selected(OpId{3})) {
      out += (out.empty() ? "" : " ") + history.key_label(row.key);
    }
    return out;
  }
};

TEST_F(RecheckTableTest, WritesForNowAreTakenBack) {
  const History history = make(R"(["select",true,[]])");
  const RowIndex index(history);
  Table table(history, index);
  EXPECT_EQ(selected(history, table), "k1 k2");
  for (std::size_t i = 0; i < 3; ++i) table.apply_for_now(history.op(OpId{i}));
  EXPECT_EQ(selected(history, table), "k2 k3");
  EXPECT_EQ(table.content(history.op(OpId{2}).key).elements.size(), 1u);
  table.take_back();
  EXPECT_EQ(selected(history, table), "k1 k2");
  EXPECT_TRUE(table.content(history.op(OpId{2}).key).elements.empty());
  table.apply(history.op(OpId{0}));
  table.take_back();
  EXPECT_EQ(selected(history, table), "k1 k2 k3") << "that was for good";
}

TEST_F(RecheckTableTest, AScanAsksForAClosedRangeOfKeys) {
  EXPECT_TRUE(returns(R"(["scan","k1","k2",[["k1",{"n":1}],["k2",{"n":2}]]])"));
  EXPECT_TRUE(returns(R"(["scan",null,"k1",[["k1",{"n":1}]]])"));
  EXPECT_FALSE(returns(R"(["scan","k1",null,[["k1",{"n":1}]]])"));
  EXPECT_TRUE(returns(R"(["scan","k4",null,[]])"));
  EXPECT_TRUE(returns(R"(["scan","k2","k1",[]])")) << "an empty range";
  EXPECT_TRUE(returns(R"(["scan",null,null,[["k3",{"n":3}],["k2",{"n":2}]]])", true));
}

TEST_F(RecheckTableTest, ASelectReturnsTheRowsOfWhichItsPredicateIsTrue) {
  EXPECT_TRUE(returns(R"(["select",{"ge":["n",2]},[["k2",{"n":2}]]])"));
  EXPECT_FALSE(returns(R"(["select",{"ge":["n",2]},[["k2",{"n":9}]]])"));
  EXPECT_FALSE(returns(R"(["select",{"ge":["n",2]},[]])"));
  EXPECT_FALSE(returns(R"(["select",{"ge":["n",2]},[["k2",{"n":2}],["k1",{"n":1}]]])"));
  EXPECT_TRUE(returns(R"(["select",{"is_null":"m"},[["k1",{"n":1}],["k2",{"n":2}]]])"));
  EXPECT_TRUE(returns(R"(["select",{"ne":["m",1]},[]])")) << "of null it is unknown";
}

TEST_F(RecheckTableTest, AnAggregateLeavesOutNulls) {
  EXPECT_TRUE(returns(R"(["aggregate","count",null,true,2])"));
  EXPECT_FALSE(returns(R"(["aggregate","count",null,true,3])"));
  EXPECT_TRUE(returns(R"(["aggregate","count","m",true,0])"));
  EXPECT_TRUE(returns(R"(["aggregate","sum","m",true,null])"));
  EXPECT_TRUE(returns(R"(["aggregate","sum","n",true,5])", true));
  EXPECT_TRUE(returns(R"(["aggregate","min","n",true,1])"));
  EXPECT_TRUE(returns(R"(["aggregate","max",null,true,"k2"])")) << "of the keys";
  EXPECT_TRUE(returns(R"(["aggregate","min","n",{"gt":["n",5]},null])"));
  EXPECT_FALSE(returns(R"(["aggregate","min","n",{"gt":["n",5]},0])"));
  EXPECT_TRUE(returns(R"(["aggregate","avg","n",true,1.5])"));
  EXPECT_TRUE(returns(R"(["aggregate","sum","n",true])")) << "nobody recorded it";
}

}  // namespace
}  // namespace ouro::recheck
