#include "check/predicates/aggregate.h"

#include <gtest/gtest.h>

#include "ouro/format.h"

namespace ouro {
namespace {

// The result of an aggregate `function` of a column over the rows that `writes` leave.
std::string aggregate_of(std::string_view function, std::string_view column,
                         std::string_view writes) {
  const std::string text = R"({"session":1,"ops":[)" + std::string(writes) +
                           "]}\n{\"session\":2,\"ops\":[[\"aggregate\",\"" + std::string(function) +
                           "\"," + std::string(column) + ",true,null]]}";
  const auto history = parse_history(text, {.format = Format::Native, .threads = 1});
  if (!history.ok()) return history.error().to_string();
  std::vector<KeyVersion> rows;
  for (OpId op{0}; op < history->end_op(TxnId{0}); ++op.value) {
    rows.push_back({history->op(op).key, history->op(op).value});
  }
  return aggregate(*history, history->predicate_read(history->first_op(TxnId{1})), rows);
}

constexpr std::string_view kRows =
    R"(["w","a",{"p":4}],["w","b",{"p":-1}],["w","c",{"p":null}],["w","d",{"q":9}])";

TEST(AggregateTest, NullsDoNotCount) {
  EXPECT_EQ(aggregate_of("count", R"("p")", kRows), "2");
  EXPECT_EQ(aggregate_of("sum", R"("p")", kRows), "3");
  EXPECT_EQ(aggregate_of("min", R"("p")", kRows), "-1");
  EXPECT_EQ(aggregate_of("max", R"("p")", kRows), "4");
}

TEST(AggregateTest, WithoutAColumnRowsAreCounted) {
  EXPECT_EQ(aggregate_of("count", "null", kRows), "4");
  EXPECT_EQ(aggregate_of("max", R"("@key")", kRows), R"("d")");
}

TEST(AggregateTest, OfNoValuesIsNull) {
  EXPECT_EQ(aggregate_of("sum", R"("r")", kRows), "null");
  EXPECT_EQ(aggregate_of("min", R"("r")", kRows), "null");
  EXPECT_EQ(aggregate_of("count", R"("r")", kRows), "0");
}

TEST(AggregateTest, SumsAreExactBeyond64Bits) {
  constexpr std::string_view kMost = R"(["w","a",{"p":18446744073709551615}],["w","b",{"p":1}])";
  EXPECT_EQ(aggregate_of("sum", R"("p")", kMost), "18446744073709551616");
  EXPECT_EQ(aggregate_of("sum", R"("p")", R"(["w","a",{"p":1}],["w","b",{"p":"x"}])"), "null");
}

// Whether `recorded` fits the aggregate of the column p over rows with these values.
bool fits(std::string_view function, const std::vector<std::string>& values,
          std::string_view recorded) {
  std::string text = R"({"session":1,"ops":[)";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"(["w",)") + std::to_string(i) + R"(,{"p":)" +
            values[i] + "}]";
  }
  text += "]}\n{\"session\":2,\"ops\":[[\"aggregate\",\"" + std::string(function) +
          R"(","p",true,)" + std::string(recorded) + "]]}";
  const auto history = parse_history(text, {.format = Format::Native, .threads = 1});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  std::vector<KeyVersion> rows;
  for (OpId op{0}; op < history->end_op(TxnId{0}); ++op.value) {
    rows.push_back({history->op(op).key, history->op(op).value});
  }
  const PredicateRead& read = history->predicate_read(history->first_op(TxnId{1}));
  return aggregate_fits(*history, read, rows, history->text(read.result));
}

TEST(AggregateTest, SumsOfDecimalsAreExact) {
  EXPECT_TRUE(fits("sum", {"0.1", "0.2"}, "0.3"));
  EXPECT_TRUE(fits("sum", {"0.1", "0.2"}, "0.30"));
  EXPECT_FALSE(fits("sum", {"0.1", "0.2"}, "0.30000000000000001"));
  EXPECT_TRUE(fits("sum", {"18446744073709551615", "1"}, "18446744073709551616"));
  EXPECT_TRUE(fits("sum", {"18446744073709551615", "1"}, R"("18446744073709551616")"));
  EXPECT_FALSE(fits("sum", {"1", "1"}, R"("2")"));
  EXPECT_FALSE(fits("sum", {"1", "true"}, "1"));
  EXPECT_TRUE(fits("sum", {"1", "true"}, "null"));
  EXPECT_TRUE(fits("max", {"1.5", "1"}, "1.50"));
}

TEST(AggregateTest, AveragesFitAtTheRecordedPrecision) {
  const std::vector<std::string> values = {"1", "2", "2"};  // 1.666…
  for (const char* good : {"1.67", "1.6667", "2", "1.7", R"({"@float":1.6666666666666667})"}) {
    EXPECT_TRUE(fits("avg", values, good)) << good;
  }
  for (const char* bad :
       {"1.66", "1.6666", "1", "1.68", R"({"@float":1.67})", "null", R"("1.67")"}) {
    EXPECT_FALSE(fits("avg", values, bad)) << bad;
  }
  EXPECT_TRUE(fits("avg", {"1", "2"}, "1.5000"));
  EXPECT_TRUE(fits("avg", {"1", "2"}, "2"));  // Half a unit may be rounded either way.
  EXPECT_TRUE(fits("avg", {"1", "2"}, "1"));
  EXPECT_FALSE(fits("avg", {"1", "2"}, "1.0"));
  EXPECT_TRUE(fits("avg", {"5", "5"}, "5.0000"));
  EXPECT_FALSE(fits("avg", {"5", "5.0002"}, "5.0000"));
  EXPECT_TRUE(fits("avg", {}, "null"));
  EXPECT_FALSE(fits("avg", {}, "0"));
}

TEST(AggregateTest, SumsOfFloatsMayBeRounded) {
  const std::vector<std::string> tenths(10, R"({"@float":0.1})");
  EXPECT_TRUE(fits("sum", tenths, R"({"@float":1})"));
  EXPECT_TRUE(fits("sum", tenths, R"({"@float":0.9999999999999999})"));
  EXPECT_FALSE(fits("sum", tenths, R"({"@float":0.9999999999})"));
  EXPECT_TRUE(fits("sum", {R"({"@float":"Infinity"})", "1"}, R"({"@float":"Infinity"})"));
  EXPECT_FALSE(fits("sum", {R"({"@float":"Infinity"})", "1"}, R"({"@float":"NaN"})"));
  EXPECT_TRUE(fits("sum", {R"({"@float":"Infinity"})", R"({"@float":"-Infinity"})"},
                   R"({"@float":"NaN"})"));
}

}  // namespace
}  // namespace ouro
