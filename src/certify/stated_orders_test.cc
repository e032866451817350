// Version orders that histories state, and orders of transactions compared with them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/orders.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

// "x: T1 T2, y… : T3": the writers of the versions of each order; dots: others may be between. Or
// why it is unclear.
std::string stated_orders(std::string_view text) {
  const History history = oracle::history_of(text);
  const auto reading = Reading::of(history, Evidence::Versions);
  if (!reading.ok()) return reading.error().what;
  std::string out;
  for (const StatedOrder& order : reading->orders()) {
    if (order.writes.empty()) continue;
    out += (out.empty() ? "" : ", ") + history.key_label(order.key) + (order.complete ? ":" : "…:");
    for (const AccessId write : order.writes) {
      out += " T" + std::to_string(reading->access(write).txn.index() + 1);
    }
  }
  return out;
}

// A transaction that writes x in a session of its own.
std::string writes_x(std::string_view session, std::string_view value, std::string_view more = "") {
  return R"({"session":")" + std::string(session) + R"(","id":")" + std::string(session) + '"' +
         std::string(more) + R"(,"ops":[["w","x",)" + std::string(value) + "]]}\n";
}
const std::string kTwoWriters = writes_x("a", "1") + writes_x("b", "2");

TEST(StatedOrdersTest, VersionsAreFoundByTheirValues) {
  EXPECT_EQ(stated_orders(kTwoWriters + R"({"key":"x","versions":[2,1],"complete":true})"),
            "x: T2 T1");
  EXPECT_EQ(stated_orders(kTwoWriters + R"({"key":"x","versions":[2]})"), "x…: T2");
  EXPECT_THAT(stated_orders(kTwoWriters + R"({"key":"x","versions":[1,3]})"),
              HasSubstr("it is unclear who wrote version 3 in the version order of x"));
}

TEST(StatedOrdersTest, RepeatedValuesAreToldApartByNamesOrByWhatIsLeft) {
  const std::string writers = writes_x("a", "1") + writes_x("b", "1");
  EXPECT_EQ(stated_orders(writers + R"({"key":"x","versions":[["b"],["a"]]})"), "x…: T2 T1");
  EXPECT_EQ(stated_orders(writers + R"({"key":"x","versions":[["b"],1]})"), "x…: T2 T1");
  EXPECT_THAT(stated_orders(writers + R"({"key":"x","versions":[1,1],"complete":true})"),
              HasSubstr("unclear"));
  EXPECT_THAT(stated_orders(writers + R"({"key":"x","versions":[1]})"), HasSubstr("unclear"));
  const std::string doubtful = writes_x("a", "1") + writes_x("b", "1", R"(,"status":"unknown")");
  EXPECT_EQ(stated_orders(doubtful + R"({"key":"x","versions":[1],"complete":true})"), "x: T1");
  EXPECT_THAT(stated_orders(doubtful + R"({"key":"x","versions":[1]})"), HasSubstr("unclear"));
}

TEST(StatedOrdersTest, ADeleteIsItsNull) {
  const std::string once = writes_x("a", "1") + writes_x("b", "null");
  EXPECT_EQ(stated_orders(once + R"({"key":"x","versions":[1,null],"complete":true})"), "x: T1 T2");
  EXPECT_THAT(stated_orders(once + writes_x("c", "null") + R"({"key":"x","versions":[1,null]})"),
              HasSubstr("unclear"));
}

TEST(StatedOrdersTest, WithoutStatedOrdersTheCommitTimestampsSayThem) {
  EXPECT_EQ(stated_orders("T1 {1,9}: w x 1\nT2 {1,-9223372036854775807}: w x 2\n"
                          "T3 aborted {1,5}: w x 3\nT4 unknown {1,}: w x 4\nT5 {1,2}: w y 1\n"),
            "x: T2 T1, y: T5");
  EXPECT_THAT(stated_orders("T1 {1,2}: w x 1\nT2: w y 1\n"), HasSubstr("no commit timestamp"));
  EXPECT_THAT(stated_orders("T1 {1,2}: w x 1\nT2 {1,2}: w x 2\n"),
              HasSubstr("shares its commit timestamp"));
  EXPECT_EQ(stated_orders("T1 {1,2}: w x 1\nT2 {1,2}: w y 2\n"), "x: T1, y: T2");
}

TEST(StatedOrdersTest, AnOrderOfTransactionsKeepsThem) {
  const History history =
      oracle::history_of(kTwoWriters + writes_x("c", "3", R"(,"status":"aborted")") +
                         R"({"key":"x","versions":[2,3,1],"complete":true})");
  const auto reading = Reading::of(history, Evidence::Versions);
  ASSERT_TRUE(reading.ok());
  const std::vector<TxnId> right{TxnId{1}, TxnId{0}};
  const std::vector<TxnId> wrong{TxnId{0}, TxnId{1}};
  EXPECT_EQ(compare_orders(*reading, right), "") << "T3 aborted";
  EXPECT_EQ(compare_orders(*reading, wrong),
            "transaction 2 and transaction 1 write x in another order than the history says");
  const auto observed = Reading::of(history);
  ASSERT_TRUE(observed.ok());
  EXPECT_EQ(compare_orders(*observed, wrong), "") << "they are no evidence";
}

}  // namespace
}  // namespace ouro::recheck
