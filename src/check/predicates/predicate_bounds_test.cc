#include "check/predicates/predicate_bounds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ouro/format.h"

namespace ouro {
namespace {

// "[2,9]" for each column that the predicate bounds; an open end is "null".
std::string bounds_in(std::string_view predicate) {
  const std::string text = R"({"session":1,"ops":[["select",)" + std::string(predicate) + ",[]]]}";
  const auto history = parse_history(text, {.format = Format::Native, .threads = 1});
  if (!history.ok()) return history.error().to_string();
  std::vector<std::string> all;
  for (const Bounds& bounds : bounds_of(*history, history->predicate_read(OpId{0}).predicate)) {
    all.push_back(fmt::format("[{},{}]", history->text(bounds.lower), history->text(bounds.upper)));
  }
  std::sort(all.begin(), all.end());
  return fmt::format("{}", fmt::join(all, ""));
}

TEST(PredicateBoundsTest, ComparisonsOfOneColumnNarrowItsBounds) {
  EXPECT_EQ(bounds_in(R"({"and":[{"ge":["p",2]},{"le":["p",9]},{"between":["p",1,8]}]})"), "[2,8]");
  EXPECT_EQ(bounds_in(R"({"eq":["@key",5]})"), "[5,5]");
  EXPECT_EQ(bounds_in(R"({"gt":["p",2]})"), "[2,null]") << "included, near enough";
}

TEST(PredicateBoundsTest, EachColumnHasItsOwn) {
  EXPECT_EQ(bounds_in(R"({"and":[{"ge":["p",2]},{"eq":["q",3]}]})"), "[2,null][3,3]");
}

TEST(PredicateBoundsTest, WhatIsNoConjunctionOfIntegersTellsNothing) {
  EXPECT_EQ(bounds_in(R"({"or":[{"ge":["p",2]},{"le":["p",1]}]})"), "");
  EXPECT_EQ(bounds_in(R"({"eq":["p","text"]})"), "");
  EXPECT_EQ(bounds_in(R"({"not":{"eq":["p",1]}})"), "");
  EXPECT_EQ(bounds_in("true"), "");
}

TEST(PredicateBoundsTest, AnOpenEndIsInfinitelyWide) {
  EXPECT_EQ((Bounds{{}, Value::small(2), Value::small(9)}.width()), 7.0);
  EXPECT_GT((Bounds{{}, Value::small(2), Value::null()}.width()), 1e300);
}

}  // namespace
}  // namespace ouro
