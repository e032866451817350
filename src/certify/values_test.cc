// The certifier's order of values and truth of predicates against those of the engines. Neither
// knows the other, so what both get wrong must be wrong in docs/predicates.md.

#include "certify/values.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "certify/rows.h"
#include "check/predicates/aggregate.h"
#include "history/decimal.h"
#include "history/value_order.h"
#include "ouro/history_builder.h"

namespace ouro::recheck {
namespace {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : random_(seed) {}

  // A value of any family; numbers are also next to each other, and at the ends of what fits.
  Value scalar() {
    constexpr std::int64_t kEdge = std::int64_t{1} << 60;
    constexpr std::int64_t kNumbers[] = {0,          1,         -1,        2,
                                         kEdge - 1,  kEdge,     kEdge + 1, -kEdge,
                                         -kEdge - 1, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    constexpr std::uint64_t kLarge[] = {std::uint64_t{1} << 63, UINT64_MAX - 1, UINT64_MAX};
    const std::string kTexts[] = {"", "1", "a", "aa", "b", "B", "\xc3\xa9", "null"};
    const char* const kDecimals[] = {"0.5",  "-0.5",  "1.5",           "0.1",
                                     "1e30", "-1e30", "0.000000000001"};
    constexpr double kFloats[] = {0.5, 0.1, -0.5, 1, 0, 1e300, INFINITY, -INFINITY, NAN};
    switch (below(11)) {
      case 0:
        return Value::null();
      case 8:
        return Value::boolean(below(2) == 0);
      case 9:
        return b_.decimal(kDecimals[below(std::size(kDecimals))]);
      case 10:
        return b_.floating(kFloats[below(std::size(kFloats))]);
      case 1:
      case 2:
        return b_.text(kTexts[below(std::size(kTexts))]);
      case 3:
        return b_.unsigned_integer(kLarge[below(std::size(kLarge))]);
      default:
        return b_.integer(kNumbers[below(std::size(kNumbers))]);
    }
  }

  Value row() {
    std::vector<HistoryBuilder::NamedCell> cells;
    for (const char* const column : {"a", "b"}) {
      if (below(4) != 0) cells.emplace_back(column, scalar());
    }
    return below(6) == 0 ? scalar() : b_.row(cells);
  }

  PredicateId predicate(int depth) {
    if (depth > 0 && below(3) != 0) {
      const auto kind = static_cast<PredicateKind>(1 + below(3));  // And, Or, Not.
      std::vector<PredicateId> parts;
      const std::size_t count = kind == PredicateKind::Not ? 1 : below(4);
      for (std::size_t i = 0; i < count; ++i) parts.push_back(predicate(depth - 1));
      return b_.combine(kind, parts);
    }
    if (below(4) == 0) {
      const auto kind =
          static_cast<PredicateKind>(static_cast<std::size_t>(PredicateKind::EqTerms) + below(6));
      const PredicateId sides[] = {term(2), term(2)};
      return b_.combine(kind, sides);
    }
    constexpr auto kFirst = static_cast<std::size_t>(PredicateKind::Eq);
    constexpr auto kEnd = static_cast<std::size_t>(PredicateKind::EqTerms);
    const std::size_t number = kFirst + below(kEnd - kFirst + 1);
    if (number == kEnd) return b_.always();
    const auto kind = static_cast<PredicateKind>(number);
    if (kind == PredicateKind::Like) {
      const char* const kPatterns[] = {"%",   "_",   "a%", "%a",       "_a",
                                       "\\%", "a_%", "",   "\xc3\xa9", "%%b"};
      const Value pattern = b_.text(kPatterns[below(std::size(kPatterns))]);
      return b_.compare(kind, b_.column("a"), std::span(&pattern, 1));
    }
    std::vector<Value> operands{scalar()};
    if (kind == PredicateKind::Between) operands.push_back(scalar());
    if (kind == PredicateKind::IsNull) operands.clear();
    while (kind == PredicateKind::In && below(2) == 0) operands.push_back(scalar());
    if (kind == PredicateKind::In && below(4) == 0) operands.clear();
    const ColumnId columns[] = {ColumnId{}, b_.column("a"), b_.column("b")};
    return b_.compare(kind, columns[below(3)], operands);
  }

  PredicateId term(int depth) {
    if (depth > 0 && below(3) == 0) {
      const auto kind =
          static_cast<PredicateKind>(static_cast<std::size_t>(PredicateKind::Add) + below(3));
      const PredicateId parts[] = {term(depth - 1), term(depth - 1)};
      return b_.combine(kind, parts);
    }
    const Value constant = scalar();
    const ColumnId columns[] = {ColumnId{}, b_.column("a"), b_.column("b")};
    if (below(3) == 0) return b_.compare(PredicateKind::Constant, {}, std::span(&constant, 1));
    return b_.compare(PredicateKind::Column, columns[below(3)], {});
  }

  // Writes of many rows, then a select and aggregates of each kind for each predicate. `results`,
  // as JSON, are what the aggregates returned.
  History history(const std::vector<std::string>& results = {}) {
    std::size_t next_result = 0;
    b_.begin_txn(b_.session("s"));
    for (int i = 0; i < 20; ++i) {
      Value name = scalar();
      const bool named = name.kind() == ValueKind::Integer || name.kind() == ValueKind::Wide;
      if (!named && name.kind() != ValueKind::Text) name = b_.text("no");
      b_.write(b_.key(name), row());
    }
    const ColumnId columns[] = {ColumnId{}, b_.column("a"), b_.column("b")};
    for (int i = 0; i < 20; ++i) {
      const PredicateId asked = predicate(3);
      b_.select(asked, {});
      for (std::size_t kind = 0; kind < kAggregateKindCount; ++kind) {
        Value result = Value::unobserved();
        if (next_result < results.size()) result = value_of(results[next_result++]);
        b_.aggregate(static_cast<AggregateKind>(kind), columns[below(3)], asked, result, {});
      }
    }
    return *std::move(b_).freeze();
  }

 private:
  Value value_of(const std::string& json) {
    if (json == "null") return Value::null();
    if (json == "true" || json == "false") return Value::boolean(json == "true");
    if (json[0] == '"') return b_.text(json.substr(1, json.size() - 2));
    if (json[0] != '{') return b_.precise_decimal(json);
    std::string digits = json.substr(10, json.size() - 11);
    std::erase(digits, '"');
    return b_.floating(*parse_float(digits));
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::mt19937_64 random_;
  HistoryBuilder b_;
};

TEST(ValuesTest, TheOrderIsThatOfTheEngines) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const History h = RandomValues(seed).history();
    std::vector<Value> values{Value::null(), Value::unobserved()};
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      const Op op = h.op(OpId{i});
      if (op.kind != OpKind::Write) continue;
      values.push_back(op.value);
      values.push_back(h.key_name(op.key));
      if (op.value.kind() != ValueKind::Row) continue;
      for (const Cell& cell : h.row(op.value)) values.push_back(cell.value);
    }
    for (const Value a : values) {
      for (const Value b : values) {
        const int order = compare_values(h, a, b);
        // Of the same size: the engines also order them.
        const bool tie = is_number(a.kind()) && a.kind() != b.kind() &&
                         (a.kind() == ValueKind::Float || b.kind() == ValueKind::Float) &&
                         !less(h, a, b) && !less(h, b, a);
        ASSERT_EQ(less(h, a, b), order < 0 && !tie) << h.text(a) << " " << h.text(b);
      }
    }
  }
}

TEST(ValuesTest, PredicatesAreTrueFalseOrUnknownAsForTheEngines) {
  std::array<std::size_t, 3> seen{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const History h = RandomValues(seed).history();
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      if (h.op(OpId{i}).kind != OpKind::Select) continue;
      const PredicateId predicate = h.predicate_read(OpId{i}).predicate;
      for (std::size_t w = 0; w < h.op_count() && h.op(OpId{w}).kind == OpKind::Write; ++w) {
        const Op row = h.op(OpId{w});
        const Truth truth = evaluate(h, predicate, row.key, row.value);
        ASSERT_EQ(is_settled(h, predicate, row.key, row.value, true), truth == Truth::True)
            << "seed " << seed << ", operation " << i << ", row " << h.text(row.value);
        ASSERT_EQ(is_settled(h, predicate, row.key, row.value, false), truth == Truth::False)
            << "seed " << seed << ", operation " << i << ", row " << h.text(row.value);
        ++seen[static_cast<std::size_t>(truth)];
      }
    }
  }
  for (const std::size_t count : seen) EXPECT_GT(count, 5'000u);
}

// What a result may be taken for: itself, and results that are near it.
std::vector<std::string> near(const std::string& json) {
  if (json[0] == '{' || json[0] == '"' || json == "null" || json == "true" || json == "false") {
    return {json, "null", "{\"@float\":\"NaN\"}", "{\"@float\":0.5}"};
  }
  std::vector<std::string> all = {json, '"' + json + '"', json + "1", json + ".5"};
  if (json.find('.') != std::string::npos) all = {json, json + "0", json + "1", json.substr(0, 5)};
  all.push_back("{\"@float\":" + json + "}");
  std::erase_if(all, [](const std::string& text) { return text.ends_with('.'); });
  return all;
}

TEST(ValuesTest, AggregatesAreThoseOfTheEngines) {
  std::size_t sums = 0;
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::mt19937_64 random(11);
  const auto rows_of = [](const History& h, const PredicateRead& read) {
    std::vector<KeyVersion> rows;
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      const Op op = h.op(OpId{i});
      if (op.kind != OpKind::Write) continue;
      if (is_settled(h, read.predicate, op.key, op.value)) rows.push_back({op.key, op.value});
    }
    return rows;
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const History plain = RandomValues(seed).history();
    std::vector<std::string> results;
    for (std::size_t i = 0; i < plain.op_count(); ++i) {
      if (plain.op(OpId{i}).kind != OpKind::Aggregate) continue;
      const PredicateRead& read = plain.predicate_read(OpId{i});
      const std::string mine = ouro::aggregate(plain, read, rows_of(plain, read));
      sums += read.aggregate == AggregateKind::Sum && mine != "null";
      const auto all = near(mine);
      results.push_back(all[random() % all.size()]);
    }
    const History h = RandomValues(seed).history(results);
    for (std::size_t i = 0; i < h.op_count(); ++i) {
      if (h.op(OpId{i}).kind != OpKind::Aggregate) continue;
      const PredicateRead& read = h.predicate_read(OpId{i});
      const auto rows = rows_of(h, read);
      const bool fits = aggregate_fits(h, read, rows, h.text(read.result));
      ASSERT_EQ(is_result(h, read, rows), fits)
          << "seed " << seed << " " << i << " " << name(read.aggregate) << " "
          << h.text(read.result) << " for " << ouro::aggregate(h, read, rows);
      (fits ? right : wrong) += 1;
    }
  }
  EXPECT_GT(sums, 200u);
  EXPECT_GT(right, 2'000u);
  EXPECT_GT(wrong, 2'000u);
}

// The surprising lines of docs/predicates.md, "Truth".
TEST(ValuesTest, NothingIsKnownOfNullsAndOfOtherFamilies) {
  HistoryBuilder b;
  b.begin_txn(b.session("s"));
  const KeyId key = b.key("k");
  const std::vector<HistoryBuilder::NamedCell> cells = {{"c", Value::small(1)}};
  const Value row = b.row(cells);
  b.write(key, row);
  const ColumnId c = b.column("c");
  const auto compared = [&](PredicateKind kind, std::vector<Value> operands) {
    return b.compare(kind, c, operands);
  };
  const PredicateId unknown[] = {
      compared(PredicateKind::Eq, {Value::null()}), compared(PredicateKind::Ne, {b.text("1")}),
      compared(PredicateKind::Between, {Value::small(0), Value::null()}),
      compared(PredicateKind::In, {Value::small(2), Value::null()}),
      b.compare(PredicateKind::Eq, b.column("other"), std::vector<Value>{Value::small(1)})};
  const PredicateId yes[] = {compared(PredicateKind::In, {Value::null(), Value::small(1)}),
                             b.combine(PredicateKind::And, {}),
                             b.compare(PredicateKind::IsNull, b.column("other"), {})};
  const PredicateId no[] = {compared(PredicateKind::Between, {Value::small(2), Value::null()}),
                            compared(PredicateKind::In, {}), b.combine(PredicateKind::Or, {})};
  for (const PredicateId predicate : unknown) b.select(predicate, {});
  const History h = *std::move(b).freeze();
  for (const PredicateId predicate : unknown) {
    EXPECT_FALSE(is_settled(h, predicate, key, row, true)) << predicate.value;
    EXPECT_FALSE(is_settled(h, predicate, key, row, false)) << predicate.value;
  }
  for (const PredicateId predicate : yes) EXPECT_TRUE(is_settled(h, predicate, key, row));
  for (const PredicateId predicate : no) EXPECT_TRUE(is_settled(h, predicate, key, row, false));
}

}  // namespace
}  // namespace ouro::recheck
