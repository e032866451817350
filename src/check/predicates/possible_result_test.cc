// Results that a predicate read may have if it saw one of some versions of each row.

#include "check/predicates/possible_result.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/case_file.h"

namespace ouro {
namespace {

// Whether a read, as native text has it, may have returned what it did. `rows` are small numbers:
// the possible values of column n in each row; zero: there is no such row.
bool possible(const std::string& read, std::initializer_list<std::vector<int>> rows) {
  const History history = oracle::history_of(R"({"session":"a","ops":[["w","k",1],)" + read + "]}");
  PossibleResult result(history, OpId{1});
  for (const std::vector<int>& versions : rows) {
    std::vector<RowPart> parts;
    for (const int n : versions) {
      if (n == 0) {
        parts.emplace_back();
      } else {
        parts.push_back({true, Value::small(n)});
      }
    }
    result.add(parts, KeyId{0});
  }
  return result.has_result();
}
std::string aggregates_n(const std::string& function, const std::string& result) {
  return R"(["aggregate",")" + function + R"(","n",true,)" + result + "]";
}

TEST(PossibleResultTest, ACountIsBetweenWhatCountsInAnyCaseAndWhatMayCount) {
  for (const char* const count : {"1", "2"}) {
    EXPECT_TRUE(possible(aggregates_n("count", count), {{1}, {0, 2}, {0}}));
  }
  EXPECT_FALSE(possible(aggregates_n("count", "0"), {{1}, {0, 2}, {0}}));
  EXPECT_FALSE(possible(aggregates_n("count", "3"), {{1}, {0, 2}, {0}}));
  EXPECT_TRUE(possible(aggregates_n("count", "0"), {}));
}

TEST(PossibleResultTest, ASumTakesOneVersionOfEachRow) {
  for (const char* const sum : {"11", "12", "21", "22"}) {
    EXPECT_TRUE(possible(aggregates_n("sum", sum), {{1, 2}, {10, 20}}));
  }
  EXPECT_FALSE(possible(aggregates_n("sum", "13"), {{1, 2}, {10, 20}}));
  EXPECT_FALSE(possible(aggregates_n("sum", "1"), {{1, 2}, {10, 20}}));
  EXPECT_TRUE(possible(aggregates_n("sum", "null"), {{0, 1}}));
  EXPECT_FALSE(possible(aggregates_n("sum", "0"), {{0, 1}}));
  EXPECT_TRUE(possible(aggregates_n("avg", "1.5"), {{1, 9}, {2, 9}}));
  EXPECT_FALSE(possible(aggregates_n("avg", "1.5"), {{1, 9}, {3, 9}}));
}

// With 20 rows of versions 2^i or nothing, every number below 2^20 is a sum.
TEST(PossibleResultTest, IfThereAreTooManySumsToTellItIsPossible) {
  const History history =
      oracle::history_of(R"({"session":"a","ops":[)" + aggregates_n("sum", "777777") + "]}");
  PossibleResult result(history, OpId{0});
  for (int i = 0; i < 20; ++i) {
    const RowPart parts[] = {{}, {true, Value::small(1 << i)}};
    result.add(parts, KeyId{0});
  }
  EXPECT_TRUE(result.has_result());
}

TEST(PossibleResultTest, AnExtremeMustBeThereAndNothingMayBeBeyondIt) {
  EXPECT_TRUE(possible(aggregates_n("min", "2"), {{1, 2}, {2, 3}}));
  EXPECT_FALSE(possible(aggregates_n("min", "2"), {{1}, {2}})) << "1 is less in any case";
  EXPECT_FALSE(possible(aggregates_n("min", "2"), {{3}, {0}})) << "2 is nowhere";
  EXPECT_TRUE(possible(aggregates_n("max", "2"), {{1}, {2, 9}}));
  EXPECT_FALSE(possible(aggregates_n("max", "2"), {{1}, {9}}));
  EXPECT_TRUE(possible(aggregates_n("max", "null"), {{0, 9}}));
  EXPECT_FALSE(possible(aggregates_n("max", "null"), {{9}}));
}

TEST(PossibleResultTest, ASelectSawNothingThatItDidNotReturn) {
  const std::string select = R"(["select",{"eq":["n",1]},[]])";
  EXPECT_TRUE(possible(select, {{0, 1}, {0}}));
  EXPECT_FALSE(possible(select, {{1, 1}}));
  EXPECT_FALSE(possible(select, {{}})) << "it saw one version of every row";
}

TEST(PossibleResultTest, ARowIsToAReadOnlyWhatItAsksFor) {
  const History history = oracle::history_of(
      R"({"session":"a","ops":[["w","k",{"n":4}],["aggregate","sum","n",{"gt":["n",3]},4],)"
      R"(["aggregate","count","n",{"gt":["n",3]},1],["aggregate","sum","m",true,null],)"
      R"(["aggregate","sum","n",{"gt":["n",4]},null]]})");
  const KeyVersion row{history.op(OpId{0}).key, history.op(OpId{0}).value};
  const auto part = [&](std::size_t op) {
    return row_part(history, history.predicate_read(OpId{op}), row);
  };
  EXPECT_EQ(part(1), (RowPart{true, Value::small(4)}));
  EXPECT_EQ(part(2), (RowPart{true, Value::null()})) << "counted, whatever the value is";
  EXPECT_EQ(part(3), RowPart{}) << "the column is null";
  EXPECT_EQ(part(4), RowPart{}) << "it does not match";
}

}  // namespace
}  // namespace ouro
