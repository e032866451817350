// Sums and averages of a few values. aggregate_test.cc has more of what may be recorded.

#include "check/predicates/total.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/case_file.h"

namespace ouro {
namespace {

// Of values as native text has them.
Total total_of(std::initializer_list<std::string> values, bool average = false) {
  std::string ops;
  for (const std::string& value : values) {
    ops += (ops.empty() ? "" : ",") + (R"(["w","x",)" + value + "]");
  }
  const History history = oracle::history_of(R"({"session":"a","ops":[)" + ops + "]}");
  Total total(average);
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    total.add(history, history.op(OpId{i}).value);
  }
  return total;
}

TEST(TotalTest, ASumIsExactWhateverItsSize) {
  EXPECT_EQ(total_of({"1", "-3"}).text(), "-2");
  EXPECT_EQ(total_of({"0.1", "0.20"}).text(), "0.3");
  EXPECT_EQ(total_of({"9223372036854775807", "9223372036854775807"}).text(),
            "18446744073709551614");
  EXPECT_EQ(total_of({"-9223372036854775808", "-1", "0.5"}).text(), "-9223372036854775808.5");
}

TEST(TotalTest, OfNothingOrOfOtherThingsThanNumbersItIsNull) {
  for (const bool average : {false, true}) {
    EXPECT_EQ(total_of({}, average).text(), "null");
    EXPECT_EQ(total_of({"1", R"("a")", "2"}, average).text(), "null");
    EXPECT_TRUE(total_of({}, average).fits("null"));
    EXPECT_FALSE(total_of({}, average).fits("0"));
  }
}

TEST(TotalTest, AnAverageFitsAtThePrecisionOfWhatWasRecorded) {
  const Total third = total_of({"1", "1", "2"}, true);
  EXPECT_TRUE(third.fits("1.3333"));
  EXPECT_TRUE(third.fits("1.33"));
  EXPECT_FALSE(third.fits("1.3334"));
  EXPECT_EQ(total_of({"1", "2"}, true).text(), "1.5");
}

TEST(TotalTest, FloatingPointNumbersMayBeRoundedInAnyOrder) {
  const std::string tenth = R"({"@float":0.1})";
  const Total sum = total_of({tenth, tenth, tenth});
  EXPECT_TRUE(sum.fits(R"({"@float":0.30000000000000004})"));
  EXPECT_TRUE(sum.fits(R"({"@float":0.3})"));
  EXPECT_FALSE(sum.fits(R"({"@float":0.30001})"));
}

TEST(TotalTest, InfinitiesCancelToWhatIsNoNumber) {
  const std::string more = R"({"@float":"Infinity"})";
  const std::string less = R"({"@float":"-Infinity"})";
  EXPECT_TRUE(total_of({more, "1"}).fits(more));
  EXPECT_FALSE(total_of({more, "1"}).fits(less));
  EXPECT_TRUE(total_of({more, less}).fits(R"({"@float":"NaN"})"));
  const std::string greatest = R"({"@float":1.7976931348623157e308})";
  EXPECT_TRUE(total_of({greatest, greatest}).fits(more));
}

TEST(TotalTest, SummariesAreEqualIfNothingEverTellsTheTotalsApart) {
  EXPECT_EQ(total_of({"1", "2"}).summary(), total_of({"2", "1"}).summary());
  EXPECT_NE(total_of({"1", "1"}, true).summary(), total_of({"2"}, true).summary());
  EXPECT_NE(total_of({"1"}).summary(), total_of({R"({"@float":1})"}).summary());
}

}  // namespace
}  // namespace ouro
