// The logic of predicates: the documented rules, and random ones against a second interpreter.

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "history/value_order.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

std::optional<bool> known(Truth truth) {
  if (truth == Truth::Unknown) return std::nullopt;
  return truth == Truth::True;
}

Value n(std::int64_t number) { return Value::small(number); }

class RandomPredicates {
 public:
  explicit RandomPredicates(std::uint64_t seed) : random_(seed) {}

  // A history with some rows and a select for each of 30 random predicates, which are put into
  // `predicates`.
  History make(std::vector<PredicateId>& predicates) {
    using Cells = std::vector<HistoryBuilder::NamedCell>;
    const SessionId session = builder_.session("s");
    builder_.begin_txn(session);
    const Cells rows[] = {{{"a", n(1)}, {"b", builder_.text("x")}},
                          {{"a", Value::null()}, {"b", n(2)}},
                          {{"b", builder_.text("yy")}},
                          {{"a", n(-3)}},
                          {{"a", builder_.text("1")}, {"b", n(0)}}};
    for (std::size_t k = 0; k < std::size(rows); ++k) {
      builder_.write(builder_.key(std::int64_t(k)), builder_.row(rows[k]));
    }
    builder_.write(builder_.key("word"), n(7));
    for (int i = 0; i < 30; ++i) predicates.push_back(tree(3));
    for (const PredicateId predicate : predicates) builder_.select(predicate, {});
    return *std::move(builder_).freeze();
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  Value operand() {
    switch (below(5)) {
      case 0:
        return Value::null();
      case 1:
        return builder_.text(below(2) == 0 ? "x" : "1");
      default:
        return n(std::int64_t(below(5)) - 3);
    }
  }
  ColumnId column() {
    return below(3) == 0 ? ColumnId{} : builder_.column(below(2) == 0 ? "a" : "b");
  }
  PredicateId tree(int depth) {
    if (depth > 0 && below(3) != 0) {
      constexpr PredicateKind kKinds[] = {PredicateKind::And, PredicateKind::Or,
                                          PredicateKind::Not};
      const PredicateKind kind = kKinds[below(3)];
      std::vector<PredicateId> children;
      const std::size_t count = kind == PredicateKind::Not ? 1 : below(4);
      for (std::size_t i = 0; i < count; ++i) children.push_back(tree(depth - 1));
      return builder_.combine(kind, children);
    }
    constexpr PredicateKind kKinds[] = {
        PredicateKind::Eq,     PredicateKind::Ne,  PredicateKind::Lt,      PredicateKind::Le,
        PredicateKind::Gt,     PredicateKind::Ge,  PredicateKind::Between, PredicateKind::In,
        PredicateKind::IsNull, PredicateKind::True};
    const PredicateKind kind = kKinds[below(std::size(kKinds))];
    if (kind == PredicateKind::True) return builder_.always();
    std::vector<Value> operands{operand()};
    if (kind == PredicateKind::Between) operands.push_back(operand());
    if (kind == PredicateKind::IsNull) operands.clear();
    while (kind == PredicateKind::In && below(2) == 0) operands.push_back(operand());
    return builder_.compare(kind, column(), operands);
  }

  std::mt19937_64 random_;
  HistoryBuilder builder_;
};

TEST(PredicateTest, RandomPredicatesAreWhatTheSecondInterpreterSays) {
  std::size_t seen[3] = {};
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::vector<PredicateId> predicates;
    const History history = RandomPredicates(seed).make(predicates);
    for (const PredicateId predicate : predicates) {
      for (std::size_t k = 0; k < history.key_count(); ++k) {
        const Value row = history.op(OpId{k}).value;
        const Truth truth = evaluate(history, predicate, KeyId{k}, row);
        ASSERT_EQ(known(truth), truth_of(history, predicate, KeyId{k}, row)) << "seed " << seed;
        ++seen[static_cast<std::size_t>(truth)];
      }
    }
  }
  for (const std::size_t count : seen) EXPECT_GT(count, 5'000u);
}

// One select for each rule of docs/predicates.md, over rows without column c, with null in it, and
// with values. The answer must hold by timestamps, and must not with any row added or taken away.
TEST(PredicateTest, SelectsReturnWhatTheDocumentSays) {
  const std::string write =
      R"({"session":"w","start_ts":1,"commit_ts":2,"ops":[["w",1,{"d":1}],["w",2,{"c":null}],)"
      R"(["w",3,{"c":1}],["w",4,{"c":2}],["w",5,{"c":"1"}],["w",6,8],["d",7],["d",8,-8]]})";
  const struct {
    std::string predicate;
    std::vector<int> keys;
  } kSelects[] = {
      {"true", {1, 2, 3, 4, 5, 6}},
      {R"({"eq":["c",1]})", {3}},
      {R"({"ne":["c",1]})", {4}},
      {R"({"not":{"eq":["c",1]}})", {4}},
      {R"({"eq":["c",null]})", {}},
      {R"({"not":{"eq":["c",null]}})", {}},
      {R"({"is_null":"c"})", {1, 2, 6}},
      {R"({"not":{"is_null":"c"}})", {3, 4, 5}},
      {R"({"lt":["c","2"]})", {5}},
      {R"({"between":["c",1,2]})", {3, 4}},
      {R"({"between":["c",2,1]})", {}},
      {R"({"not":{"between":["c",2,null]}})", {3}},
      {R"({"in":["c",[1,null]]})", {3}},
      {R"({"not":{"in":["c",[1,null]]}})", {}},
      {R"({"in":["c",[]]})", {}},
      {R"({"or":[{"gt":["c",1]},{"is_null":"c"}]})", {1, 2, 4, 6}},
      {R"({"and":[{"ge":["c",1]},{"le":["@key",3]}]})", {3}},
      {R"({"and":[]})", {1, 2, 3, 4, 5, 6}},
      {R"({"or":[]})", {}},
  };
  const std::string values[] = {
      "", R"({"d":1})", R"({"c":null})", R"({"c":1})", R"({"c":2})", R"({"c":"1"})", "8"};
  const auto outcome = [&](const std::string& predicate, const std::vector<int>& keys) {
    std::string rows;
    for (const int key : keys) {
      rows += (rows.empty() ? "[" : ",[") + std::to_string(key) + "," + values[key] + "]";
    }
    const std::string text = write + "\n" + R"({"session":"r","start_ts":3,"commit_ts":4,"ops":)" +
                             R"([["select",)" + predicate + ",[" + rows + "]]]}\n";
    const auto history = parse_history(text);
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    return check(*history, Level::Serializable, options)->outcome;
  };
  for (const auto& [predicate, keys] : kSelects) {
    EXPECT_EQ(outcome(predicate, keys), Outcome::Holds) << predicate;
    for (int key = 1; key <= 6; ++key) {
      std::vector<int> other = keys;
      if (std::erase(other, key) == 0) other.push_back(key);
      EXPECT_EQ(outcome(predicate, other), Outcome::Violated) << predicate << " with " << key;
    }
  }
}

TEST(PredicateTest, OwnWritesAreSeenAndTombstonesMayBeListed) {
  const auto outcome = [](const std::string& ops) {
    const auto history = parse_history(
        R"({"session":"w","start_ts":1,"commit_ts":2,"ops":[["w","a",1],["w","b",2],["w","c",3]]})"
        "\n"
        R"({"session":"r","start_ts":3,"commit_ts":4,"ops":[)" +
        ops + "]}\n");
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    return check(*history, Level::Si, options)->outcome;
  };
  EXPECT_EQ(outcome(R"(["scan","a","b",[["b",2],["a",1]]])"), Outcome::Holds);
  EXPECT_EQ(outcome(R"(["scan","a","b",[["a",1],["b",2],["c",3]]])"), Outcome::Violated);
  EXPECT_EQ(outcome(R"(["scan","a","b",[["a",1],["a",1],["b",2]]])"), Outcome::Violated);
  EXPECT_EQ(outcome(R"(["w","b",9],["scan","b",null,[["b",9],["c",3]]])"), Outcome::Holds);
  EXPECT_EQ(outcome(R"(["scan","b",null,[["b",9],["c",3]]],["w","b",9])"), Outcome::Violated);
  EXPECT_EQ(outcome(R"(["d","b",-1],["scan",null,null,[["a",1],["c",3]]])"), Outcome::Holds);
  EXPECT_EQ(outcome(R"(["d","b",-1],["scan",null,null,[["a",1],["b",-1],["c",3]]])"),
            Outcome::Holds);
  EXPECT_EQ(outcome(R"(["d","b",-1],["scan",null,null,[["a",1],["b",-2],["c",3]]])"),
            Outcome::Violated);
  EXPECT_EQ(outcome(R"(["d","b"],["aggregate","count",null,true,2])"), Outcome::Holds);
  EXPECT_EQ(outcome(R"(["d","b"],["aggregate","count",null,true,3])"), Outcome::Violated);
  EXPECT_EQ(outcome(R"(["aggregate","max","@key",true,"c"])"), Outcome::Holds);
  EXPECT_EQ(outcome(R"(["aggregate","sum","x",true,null])"), Outcome::Holds);
}

// Integers that handles cannot hold (ValueKind::Wide), in a column with an index.
TEST(PredicateTest, IntegersOfAnySizeAreSelected) {
  const auto outcome = [](const std::string& predicate, const std::string& rows) {
    const auto history = parse_history(
        R"({"session":"w","start_ts":1,"commit_ts":2,"ops":[["w",1,{"c":9223372036854775807}],)"
        R"(["w",2,{"c":-9223372036854775807}],["w",3,{"c":0}]]})"
        "\n"
        R"({"session":"r","start_ts":3,"commit_ts":4,"ops":[["select",)" +
        predicate + ",[" + rows + "]]]}\n");
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    return check(*history, Level::Si, options)->outcome;
  };
  const std::string most = R"([1,{"c":9223372036854775807}])";
  const std::string least = R"([2,{"c":-9223372036854775807}])";
  EXPECT_EQ(outcome(R"({"gt":["c",5]})", most), Outcome::Holds);
  EXPECT_EQ(outcome(R"({"lt":["c",-5]})", least), Outcome::Holds);
  EXPECT_EQ(outcome(R"({"ge":["c",9223372036854775807]})", most), Outcome::Holds);
  EXPECT_EQ(
      outcome(R"({"and":[{"ge":["c",0]},{"lt":["c",9223372036854775807]}]})", R"([3,{"c":0}])"),
      Outcome::Holds);
  EXPECT_EQ(outcome(R"({"gt":["c",5]})", least), Outcome::Violated);
}

}  // namespace
}  // namespace ouro::oracle
