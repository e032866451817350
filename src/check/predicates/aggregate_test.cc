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
  EXPECT_EQ(aggregate_of("sum", R"("p")", kMost), R"("18446744073709551616")");
  EXPECT_EQ(aggregate_of("sum", R"("p")", R"(["w","a",{"p":1}],["w","b",{"p":"x"}])"), "null");
}

}  // namespace
}  // namespace ouro
