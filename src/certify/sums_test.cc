// Sums and averages of a few values, with results that are right, nearly right and wrong.

#include "certify/sums.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// Of values as native text has them.
Sums sums_of(std::initializer_list<std::string> values) {
  std::string ops;
  for (const std::string& value : values) {
    ops += (ops.empty() ? "" : ",") + (R"(["w","x",)" + value + "]");
  }
  const History history = oracle::history_of(R"({"session":"a","ops":[)" + ops + "]}");
  Sums sums;
  for (std::size_t i = 0; i < history.op_count(); ++i) sums.add(history, history.op(OpId{i}).value);
  sums.settle();
  return sums;
}
bool is_sum(std::initializer_list<std::string> values, std::string_view json) {
  return sums_of(values).allow(json, false);
}
bool is_average(std::initializer_list<std::string> values, std::string_view json) {
  return sums_of(values).allow(json, true);
}

TEST(SumsTest, IntegersAreAddedExactly) {
  EXPECT_TRUE(is_sum({"1", "2", "-7"}, "-4"));
  EXPECT_FALSE(is_sum({"1", "2", "-7"}, "-3"));
  EXPECT_TRUE(is_sum({"5", "-5"}, "0"));
  EXPECT_FALSE(is_sum({"1", "2"}, "null"));
  EXPECT_TRUE(is_sum({"0.10", "0.2"}, "0.3"));
  EXPECT_FALSE(is_sum({"0.10", "0.2"}, "0.30000000000000004"));
}

TEST(SumsTest, TheSumOfNothingAndOfOtherThingsThanNumbersIsNull) {
  EXPECT_TRUE(is_sum({}, "null"));
  EXPECT_FALSE(is_sum({}, "0"));
  EXPECT_TRUE(is_average({}, "null"));
  EXPECT_TRUE(is_sum({"1", R"("a")"}, "null"));
  EXPECT_FALSE(is_sum({R"("a")", "1"}, "1"));
  EXPECT_TRUE(is_sum({"true"}, "null"));
}

TEST(SumsTest, NothingOverflows) {
  EXPECT_TRUE(is_sum({"9223372036854775807", "9223372036854775807"}, "18446744073709551614"));
  EXPECT_TRUE(is_sum({"-9223372036854775808", "-1"}, "-9223372036854775809"));
  EXPECT_FALSE(is_sum({"-9223372036854775808", "-1"}, "9223372036854775807"));
  EXPECT_TRUE(is_sum({"1099511627775", "1099511627775", "-1099511627775"}, "1099511627775"));
}

// Only what takes more than 64 bits was ever written so.
TEST(SumsTest, ALongSumMayBeAText) {
  EXPECT_TRUE(is_sum({"18446744073709551615", "1"}, R"("18446744073709551616")"));
  EXPECT_FALSE(is_sum({"18446744073709551614", "1"}, R"("18446744073709551615")"));
  EXPECT_FALSE(is_sum({"1", "2"}, R"("3")"));
  EXPECT_FALSE(is_average({"18446744073709551616"}, R"("18446744073709551616")"));
}

TEST(SumsTest, AnAverageIsRoundedToTheDigitsThatItHas) {
  EXPECT_TRUE(is_average({"1", "2"}, "1.5"));
  EXPECT_TRUE(is_average({"1", "1", "2"}, "1.3333"));
  EXPECT_FALSE(is_average({"1", "1", "2"}, "1.3334"));
  EXPECT_TRUE(is_average({"1", "1", "2"}, "1"));
  EXPECT_FALSE(is_average({"1", "1", "2"}, "2"));
}

TEST(SumsTest, SumsOfFloatingPointNumbersMayBeRounded) {
  const std::string tenth = R"({"@float":0.1})";
  EXPECT_TRUE(is_sum({tenth, tenth, tenth}, R"({"@float":0.30000000000000004})"));
  EXPECT_TRUE(is_sum({tenth, tenth, tenth}, R"({"@float":0.3})"));
  EXPECT_FALSE(is_sum({tenth, tenth, tenth}, R"({"@float":0.300001})"));
}

TEST(SumsTest, InfinityAndWhatIsNoNumber) {
  const std::string more = R"({"@float":"Infinity"})";
  const std::string less = R"({"@float":"-Infinity"})";
  const std::string none = R"({"@float":"NaN"})";
  EXPECT_TRUE(is_sum({more, "1", more}, more));
  EXPECT_FALSE(is_sum({more, "1"}, less));
  EXPECT_FALSE(is_sum({more, "1"}, "1"));
  EXPECT_TRUE(is_sum({more, less}, none));
  EXPECT_FALSE(is_sum({more, less}, more));
  const std::string greatest = R"({"@float":1.7976931348623157e308})";
  EXPECT_TRUE(is_sum({greatest, greatest}, more));
  EXPECT_FALSE(is_sum({greatest, "1"}, more));
}

TEST(SumsTest, ASummaryTellsSumsApart) {
  EXPECT_EQ(sums_of({"1", "2", "3"}).summary(), sums_of({"3", "2", "1"}).summary());
  EXPECT_NE(sums_of({"1", "1"}).summary(), sums_of({"2"}).summary()) << "averages differ";
  EXPECT_NE(sums_of({"1", "-1"}).summary(), sums_of({"0", "0"}).summary()) << "so does rounding";
  EXPECT_NE(sums_of({"1"}).summary(), sums_of({R"({"@float":1})"}).summary());
}

}  // namespace
}  // namespace ouro::recheck
