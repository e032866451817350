// Orders in which reads of counters return what they did.

#include "check/counter_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// One transaction of a session; `more` are members of the line.
std::string counting(const std::string& session, const std::string& ops,
                     const std::string& more = "") {
  return R"({"session":")" + session + '"' + more + R"(,"ops":[)" + ops + "]}\n";
}
// "T1 T2"; "" if none was found.
std::string counted_order(const std::string& text) {
  Tiny t(text);
  std::string out;
  for (const TxnId txn : order_by_counters(t.observed(), Budget())) {
    out += (out.empty() ? "" : " ") + Tiny::name(txn);
  }
  return out;
}

TEST(CounterOrderTest, AReaderComesWhereTheSumIsItsResult) {
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])") + counting("b", R"(["inc","c",10])") +
                          counting("r", R"(["r","c",10])")),
            "T2 T3 T1");
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])") + counting("r", R"(["r","c",0])")),
            "T2 T1");
}

TEST(CounterOrderTest, NoOrderGivesWhatNeverWas) {
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])") + counting("r", R"(["r","c",2])")), "");
  // Two readers saw two increments in opposite orders.
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])") + counting("b", R"(["inc","c",10])") +
                          counting("r", R"(["r","c",1])") + counting("s", R"(["r","c",10])")),
            "");
}

TEST(CounterOrderTest, SessionsAndRealTimeAreKept) {
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])") + counting("a", R"(["r","c",0])")), "");
  const std::string early = R"(,"invoked":1,"completed":2)";
  const std::string late = R"(,"invoked":5,"completed":6)";
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])", early) +
                          counting("r", R"(["r","c",0])", late)),
            "");
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1])", late) +
                          counting("r", R"(["r","c",0])", late)),
            "T2 T1");
}

TEST(CounterOrderTest, AnUnknownTransactionIsThereIfItIsNeeded) {
  const std::string unknown = counting("a", R"(["inc","c",1])", R"(,"status":"unknown")");
  const std::string seen = counted_order(unknown + counting("r", R"(["r","c",1])"));
  EXPECT_EQ(seen, "T1 T2");
  EXPECT_EQ(counted_order(unknown + counting("r", R"(["r","c",0])")).substr(0, 2), "T2");
}

TEST(CounterOrderTest, ATransactionSeesItsOwnIncrements) {
  EXPECT_EQ(counted_order(counting("a", R"(["inc","c",1],["r","c",11],["inc","c",1])") +
                          counting("b", R"(["inc","c",10])") + counting("r", R"(["r","c",12])")),
            "T2 T1 T3");
}

}  // namespace
}  // namespace ouro
