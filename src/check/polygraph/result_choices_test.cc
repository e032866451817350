// Orders in which selects and aggregates give what they returned, found by the search.

#include "check/polygraph/result_choices.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny_search.h"

namespace ouro {
namespace {

// "T1 T3 T2": the order that is found for three transactions: T1 writes n = 1 into k, T2 n = 2, T3
// reads; "none" if there is none, and "impossible" if no versions at all give the result.
std::string found_order(const std::string& read, const std::string& third = "c") {
  TinySearch s(R"({"session":"a","ops":[["w","k",{"n":1}]]})"
               "\n"
               R"({"session":"a","ops":[["w","k",{"n":2}]]})"
               "\n"
               R"({"session":")" +
                   third + R"(","ops":[)" + read + "]}",
               Level::SessionSerializable, {.results = true});
  const Solution solution = s.solver.solve(s.search);
  if (s.search.results()->impossible().valid()) return "impossible";
  if (solution != Solution::Found) return "none";
  std::string out(8, ' ');
  for (Node txn = 0; txn < 3; ++txn) {
    std::uint32_t before = 0;
    for (Node other = 0; other < 3; ++other)
      before += s.order.position(other) < s.order.position(txn);
    out.replace(3 * before, 2, "T" + std::to_string(txn + 1));
  }
  return out;
}

TEST(ResultChoicesTest, AReadIsWhereItsResultIsThere) {
  EXPECT_EQ(found_order(R"(["aggregate","sum","n",true,2])"), "T1 T2 T3");
  EXPECT_EQ(found_order(R"(["aggregate","sum","n",true,1])"), "T1 T3 T2");
  EXPECT_EQ(found_order(R"(["aggregate","sum","n",true,null])"), "T3 T1 T2");
  EXPECT_EQ(found_order(R"(["aggregate","max","n",true,1])"), "T1 T3 T2");
  EXPECT_EQ(found_order(R"(["aggregate","count",null,true,0])"), "T3 T1 T2");
  EXPECT_EQ(found_order(R"(["select",{"le":["n",2]},[]])"), "T3 T1 T2");
  EXPECT_EQ(found_order(R"(["select",{"eq":["n",2]},[]],["aggregate","count",null,true,1])"),
            "T1 T3 T2");
}

TEST(ResultChoicesTest, WhatTheSessionForbidsIsRefuted) {
  EXPECT_EQ(found_order(R"(["aggregate","sum","n",true,2])", "a"), "T1 T2 T3");
  EXPECT_EQ(found_order(R"(["aggregate","sum","n",true,1])", "a"), "none");
}

TEST(ResultChoicesTest, WhatNoVersionsGiveIsImpossible) {
  EXPECT_EQ(found_order(R"(["w","j",{"n":5}],["aggregate","count",null,{"ge":["n",5]},2])"),
            "impossible");
}

}  // namespace
}  // namespace ouro
