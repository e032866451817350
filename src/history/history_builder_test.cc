#include "ouro/history_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "history/columns.h"

namespace ouro {
namespace {

TEST(HistoryBuilderTest, KeepsTransactionsOfASessionInOrder) {
  HistoryBuilder builder;
  const SessionId a = builder.session("a");
  const SessionId b = builder.session("b");
  for (const SessionId session : {a, b, a, a, b}) builder.begin_txn(session);
  const History history = *std::move(builder).freeze();
  const auto of_a = history.session_txns(a);
  EXPECT_EQ(std::vector<TxnId>(of_a.begin(), of_a.end()),
            (std::vector{TxnId{0}, TxnId{2}, TxnId{3}}));
  EXPECT_EQ(history.session_txns(b).size(), 2u);
}

TEST(HistoryBuilderTest, ValuesAreEqualExactlyWhenTheirHandlesAre) {
  HistoryBuilder builder;
  EXPECT_EQ(builder.text("a"), builder.text("a"));
  EXPECT_NE(builder.text("5"), builder.integer(5));
  EXPECT_EQ(builder.integer(INT64_MAX), builder.unsigned_integer(INT64_MAX));
  EXPECT_NE(builder.integer(INT64_MIN), builder.text("-9223372036854775808"));
  const std::vector<HistoryBuilder::NamedCell> ab{{"a", builder.integer(1)},
                                                  {"b", builder.integer(2)}};
  const std::vector<HistoryBuilder::NamedCell> ba{{"b", builder.integer(2)},
                                                  {"a", builder.integer(1)}};
  EXPECT_EQ(builder.row(ab), builder.row(ba));
}

TEST(HistoryBuilderTest, AgreeingListReadsShareOneTrunk) {
  HistoryBuilder builder;
  const KeyId x = builder.key("x");
  builder.begin_txn(builder.session(1));
  std::vector<Value> list;
  for (int i = 0; i < 100; ++i) {
    list.push_back(builder.integer(i));
    builder.read_list(x, list);
  }
  builder.read_list(x, std::vector{builder.integer(7)});
  const History history = *std::move(builder).freeze();
  EXPECT_EQ(columns_of(history).elements.size(), 101u);
  EXPECT_EQ(history.list(history.op(OpId{49}).value).size(), 50u);
  EXPECT_EQ(history.text(history.op(OpId{100}).value), "[7]");
}

TEST(HistoryBuilderTest, NumbersKeepTheirKeysHoweverManyThereAre) {
  std::mt19937_64 random(5);
  for (const std::int64_t range : {300, 70'000, 2'000'000}) {
    HistoryBuilder builder;
    std::map<std::int64_t, KeyId> known;
    for (int i = 0; i < 30'000; ++i) {
      const std::int64_t number = static_cast<std::int64_t>(random() % range) - 20;
      const KeyId key = builder.key(number);
      const auto [at, added] = known.try_emplace(number, KeyId{known.size()});
      ASSERT_EQ(key, at->second) << number;
      ASSERT_EQ(builder.key_name(key).number(), number);
    }
  }
}

// Builds the same small history in one builder, or in two parts that this one absorbs.
History built_in(int parts) {
  HistoryBuilder whole;
  whole.file("h", PlaceUnit::Line);
  HistoryBuilder part;
  for (int i = 0; i < 40; ++i) {
    HistoryBuilder& b = parts == 1 ? whole : part;
    const KeyId key = i % 2 == 0 ? b.key(i % 5) : b.key("k" + std::to_string(i % 7));
    b.begin_txn(b.session(i % 3), static_cast<std::uint64_t>(i));
    if (i % 4 == 1) b.clocks(i, i + 1);
    if (i % 5 == 2) b.timestamps({i, 1}, {i, 2});
    if (i % 6 == 3) b.name(b.text("t" + std::to_string(i)));
    b.write(key, b.integer(i));
    b.write(key, b.text("v" + std::to_string(i)));
    b.write(key, b.integer(INT64_MIN + i));
    b.read_list(b.key("list"), std::vector(static_cast<std::size_t>(i), b.integer(9)));
    const std::vector<HistoryBuilder::NamedCell> cells{{"c", b.integer(i)}};
    const std::vector<KeyVersion> rows{{key, b.row(cells)}};
    const std::vector<Value> operands{b.integer(i), b.text("z")};
    const std::vector<PredicateId> both{b.compare(PredicateKind::In, b.column("c"), operands),
                                        b.always()};
    b.select(b.combine(PredicateKind::And, both), {.rows = rows});
    b.scan(b.integer(0), b.text("k9"),
           {.rows = rows, .has_version_set = true, .version_set = rows});
    if (i % 9 == 0) b.version_order(key, operands, i % 2 == 0);
    if (i % 8 == 0) b.initial(key, b.text("first"));
    if (parts == 2 && (i == 17 || i == 39)) {
      whole.absorb(std::move(part));
      part = HistoryBuilder();
    }
  }
  return *std::move(whole).freeze();
}

template <class T>
std::vector<T> copy(std::span<const T> column) {
  return {column.begin(), column.end()};
}

TEST(HistoryBuilderTest, AbsorbingIsTheSameAsBuildingInOneGo) {
  const History one = built_in(1);
  const History two = built_in(2);
  const auto& a = columns_of(one);
  const auto& b = columns_of(two);
  EXPECT_EQ(copy(a.op_kind), copy(b.op_kind));
  EXPECT_EQ(copy(a.op_key), copy(b.op_key));
  EXPECT_EQ(copy(a.txn_first_op), copy(b.txn_first_op));
  EXPECT_EQ(copy(a.invoked), copy(b.invoked));
  EXPECT_EQ(copy(a.commit_ts), copy(b.commit_ts));
  EXPECT_EQ(copy(a.session_txns), copy(b.session_txns));
  for (std::size_t i = 0; i < one.op_count(); ++i) {
    const Op left = one.op(OpId{i});
    const Op right = two.op(OpId{i});
    if (!is_predicate_read(left.kind)) {
      EXPECT_EQ(one.text(left.value), two.text(right.value));
      continue;
    }
    const PredicateRead& read = one.predicate_read(OpId{i});
    const PredicateRead& other = two.predicate_read(OpId{i});
    EXPECT_EQ(one.text(one.rows(read)[0].value), two.text(two.rows(other)[0].value));
    EXPECT_EQ(one.version_set(read).size(), two.version_set(other).size());
    if (left.kind != OpKind::Select) continue;
    const PredicateNode& in =
        one.predicate(PredicateId{one.children(one.predicate(read.predicate))[0]});
    const PredicateNode& in2 =
        two.predicate(PredicateId{two.children(two.predicate(other.predicate))[0]});
    EXPECT_EQ(one.text(one.operands(in)[1]), two.text(two.operands(in2)[1]));
    EXPECT_EQ(one.text(one.operands(in)[0]), two.text(two.operands(in2)[0]));
  }
  for (std::size_t k = 0; k < one.key_count(); ++k) {
    EXPECT_EQ(one.key_label(KeyId{k}), two.key_label(KeyId{k}));
    EXPECT_EQ(one.text(one.initial(KeyId{k})), two.text(two.initial(KeyId{k})));
  }
}

// Fills `builder` with transactions that share some names with those of other rounds.
void fill(HistoryBuilder& builder, int round) {
  for (int i = 0; i < 4; ++i) {
    builder.begin_txn(builder.session(round % 2 == 0 ? "even" : "odd"));
    builder.write(builder.key(round + i), builder.text("v" + std::to_string(round)));
    builder.read(builder.key("k" + std::to_string(round / 2)), builder.text("v0"));
    const Value elements[] = {builder.integer(round), builder.text("v1")};
    builder.read_list(builder.key("list" + std::to_string(i)), elements);
  }
  if (round % 3 == 2) {
    const std::string column = "c" + std::to_string(round);
    const HistoryBuilder::NamedCell cells[] = {{column, builder.integer(1)}};
    builder.write(builder.key(1), builder.row(cells));
  }
  builder.initial(builder.key(round), builder.integer(7));
}

std::string columns_of(HistoryBuilder&& builder) {
  const auto history = std::move(builder).freeze();
  EXPECT_TRUE(history.ok());
  const HistoryColumns& c = columns_of(*history);
  std::string out;
  const auto add = [&out](const auto& column) {
    out.append(reinterpret_cast<const char*>(column.data()), column.size_bytes());
    out += '|';
  };
  add(c.op_kind);
  add(c.op_key);
  add(c.op_value);
  add(c.txn_first_op);
  add(c.txn_session);
  add(c.key_name);
  add(c.session_name);
  add(c.text_bytes);
  add(c.text_end);
  add(c.elements);
  add(c.trunk_end);
  add(c.row_end);
  for (const KeyVersion& initial : c.key_initial) {
    out += std::to_string(initial.key.value) + "=" + std::to_string(initial.value.bits()) + ";";
  }
  return out;
}

TEST(HistoryBuilderTest, AnAbsorbedBuilderCanBeFilledAgain) {
  HistoryBuilder whole_of_new, whole_of_one, whole_of_two;
  HistoryBuilder one, two[2];
  for (int round = 0; round < 12; ++round) {
    HistoryBuilder fresh;
    fill(fresh, round);
    whole_of_new.absorb(std::move(fresh));
    fill(one, round);
    whole_of_one.absorb(std::move(one));
    EXPECT_EQ(one.txn_count(), 0u);
    EXPECT_EQ(one.op_count(), 0u);
    fill(two[round % 2], round);
    whole_of_two.absorb(std::move(two[round % 2]));
  }
  const std::string wanted = columns_of(std::move(whole_of_new));
  EXPECT_EQ(columns_of(std::move(whole_of_one)), wanted);
  EXPECT_EQ(columns_of(std::move(whole_of_two)), wanted);
}

}  // namespace
}  // namespace ouro
