// The rows of counters, in histories of a few increments.

#include "certify/counters.h"

#include <gtest/gtest.h>

#include <string>

#include "certify/reading.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// The first aggregate, which is what a read of a counter becomes.
Op counter_read_of(const History& history) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Aggregate) return op;
  }
  throw std::invalid_argument("no counter is read");
}

// "T1+2 T3+5*": who added how much to the counter that is read; a star: and added to it later.
std::string counter_rows(const History& history) {
  const CounterRows counters(history);
  const Op op = counter_read_of(history);
  EXPECT_TRUE(counters.is_read(op));
  std::string out;
  for (const CounterRows::Row& row : counters.rows(history.predicate_read(op.id))) {
    out += (out.empty() ? "T" : " T") + std::to_string(row.txn.index() + 1) + '+' +
           std::to_string(row.delta) + (row.is_last ? "" : "*");
  }
  return out;
}

TEST(CounterRowsTest, EachTransactionHasOneForAllThatItAdds) {
  const History history =
      oracle::history_of(R"({"session":"a","ops":[["inc","c",2],["inc","d",9],["inc","c",3]]})"
                         "\n"
                         R"({"session":"b","status":"unknown","ops":[["inc","c",-1]]})"
                         "\n"
                         R"({"session":"c","status":"aborted","ops":[["inc","c",100]]})"
                         "\n"
                         R"({"session":"d","ops":[["r","c",5]]})"
                         "\n");
  EXPECT_EQ(counter_rows(history), "T1+2* T1+5 T2+-1");
}

TEST(CounterRowsTest, ACounterBeginsWhereTheHistorySays) {
  const History history =
      oracle::history_of(R"({"key":"c","initial":40})"
                         "\n"
                         R"({"session":"a","ops":[["inc","c",2],["r","c",42],["inc","d",1]]})"
                         "\n");
  const PredicateRead& read = history.predicate_read(counter_read_of(history).id);
  EXPECT_EQ(CounterRows(history).initial(read), 40);
  EXPECT_EQ(counter_rows(history), "T1+2");
}

TEST(CounterRowsTest, OtherReadsAndHistoriesHaveNone) {
  const History history =
      oracle::history_of(R"({"session":"a","ops":[["inc","c",2]]})"
                         "\n"
                         R"({"session":"b","ops":[["aggregate","sum","n",{"eq":["m",1]},null]]})"
                         "\n");
  EXPECT_FALSE(CounterRows(history).is_read(counter_read_of(history)));
  const History plain = oracle::history_of("T1: w x 1\nT2: r x 1\n");
  EXPECT_FALSE(CounterRows(plain).is_read(plain.op(OpId{1})));
}

// Whether T3 may have read `result` while it is open whether it saw T2, which nobody knows of.
bool may_be(std::string_view result) {
  const History history = oracle::history_of(R"({"session":"a","ops":[["inc","c",2]]})"
                                             "\n"
                                             R"({"session":"b","ops":[["inc","c",-5]]})"
                                             "\n"
                                             R"({"session":"c","ops":[["inc","c",10],["r","c",)" +
                                             std::string(result) + "]]}\n");
  const auto reading = Reading::of(history);
  EXPECT_TRUE(reading.ok());
  return reading->may_add_up(counter_read_of(history));
}

TEST(CounterRowsTest, AReadLiesBetweenTheLeastAndTheMostThatMayAddUp) {
  EXPECT_TRUE(may_be("5"));    // All but T1's.
  EXPECT_TRUE(may_be("12"));   // All but T2's.
  EXPECT_FALSE(may_be("13"));  // It cannot have missed its own 10, nor got more than 12.
  EXPECT_FALSE(may_be("4"));
  EXPECT_FALSE(may_be("-3"));
}

// Together they take off almost 2^64, which a sum of 64 bits would take for 32.
TEST(CounterRowsTest, SumsBeyond64BitsDoNotWrapAround) {
  std::string text;
  for (int session = 0; session < 32; ++session) {
    text += R"({"session":)" + std::to_string(session) +
            R"(,"ops":[["inc","c",-576460752303423487]]})"
            "\n";
  }
  const auto adds_up = [&](const std::string& result) {
    const History history =
        oracle::history_of(text + R"({"session":"r","ops":[["r","c",)" + result + "]]}\n");
    const auto reading = Reading::of(history);
    return reading.ok() && reading->may_add_up(counter_read_of(history));
  };
  EXPECT_TRUE(adds_up("-5"));
  EXPECT_FALSE(adds_up("32"));
}

}  // namespace
}  // namespace ouro::recheck
