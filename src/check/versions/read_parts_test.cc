// What reads get from own writes and from single versions.

#include "check/versions/read_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(ReadPartsTest, OfSeveralOwnWritesTheLastOneBeforeTheReadCounts) {
  const Tiny t(R"({"session":1,"ops":[["w","k",{"n":1}],["w","j",{"n":5}],["append","l",1],)"
               R"(["w","k",{"n":2}],["select",true,[]],["w","m",{"n":3}]]})");
  const OwnWrites own = written_before(t.history(), OpId{4});
  ASSERT_EQ(own.size(), 2u) << "a list is no row, and m comes later";
  EXPECT_TRUE(has_key(own, t.key("j")));
  EXPECT_FALSE(has_key(own, t.key("l")));
  EXPECT_FALSE(has_key(own, t.key("m")));
  EXPECT_FALSE(has_key({}, t.key("k")));
  for (const auto& [key, op] : own) {
    EXPECT_EQ(op, key == t.key("k") ? OpId{3} : OpId{1});
  }
}

TEST(ReadPartsTest, RowsThatTheReadReturnedAndThoseThatAreGoneGiveNothing) {
  const Tiny t(
      R"({"session":1,"ops":[["w","j",{"n":1}],["w","k",{"n":2}],["d","k"],["w","m",{"n":3}],)"
      R"(["select",{"ge":["n",1]},[["j",{"n":1}]]]]})");
  const auto parts = own_parts(t.history(), OpId{4}, written_before(t.history(), OpId{4}));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].key, t.key("m"));
  EXPECT_TRUE(parts[0].part.counts);
}

TEST(ReadPartsTest, OwnWritesAreAddedToTheResult) {
  const auto possible = [](const std::string& sum) {
    const Tiny t(R"({"session":1,"ops":[["w","k",{"n":4}],["aggregate","sum","n",true,)" + sum +
                 "]]}");
    PossibleResult result(t.history(), OpId{1});
    add_own(t.history(), OpId{1}, written_before(t.history(), OpId{1}), result);
    return result.has_result();
  };
  EXPECT_TRUE(possible("4"));
  EXPECT_FALSE(possible("null"));
}

TEST(ReadPartsTest, AVersionIsARowUnlessItIsDeletedOrNeverWasThere) {
  Tiny t(R"({"key":"i","initial":{"n":9}})"
         "\n"
         R"({"session":1,"ops":[["w","k",{"n":4}]]})"
         "\n"
         R"({"session":2,"ops":[["d","k","gone"],["aggregate","sum","n",true,null]]})"
         "\n");
  const PredicateRead& read = t.history().predicate_read(OpId{2});
  const auto part = [&](std::string_view key, ItemId write) {
    return part_of(t.observed(), read, t.key(key), write);
  };
  EXPECT_EQ(part("k", t.item(1, 1)), (RowPart{true, Value::small(4)}));
  EXPECT_EQ(part("k", t.item(2, 1)), RowPart{});
  EXPECT_EQ(part("k", {}), RowPart{});
  EXPECT_EQ(part("i", {}), (RowPart{true, Value::small(9)}));
}

TEST(ReadPartsTest, AnImpossibleReadIsAMismatch) {
  Tiny t(R"({"session":1,"ops":[["select",true,[]]]})");
  const Verdict verdict = impossible_read(t.observed(), Level::Si, OpId{0});
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_EQ(verdict.level, Level::Si);
  EXPECT_EQ(verdict.anomalies[0].ops, std::vector{OpId{0}});
  EXPECT_EQ(verdict.counts[static_cast<std::size_t>(AnomalyKind::ResultSetMismatch)], 1u);
}

}  // namespace
}  // namespace ouro
