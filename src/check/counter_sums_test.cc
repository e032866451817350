#include "check/counter_sums.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

constexpr char kThree[] = R"({"session":"a","ops":[["inc","c",1]]}
{"session":"b","ops":[["inc","c",2]]}
{"session":"c","ops":[["inc","c",4]]}
)";

std::string with_read(int result, std::string_view session = "d") {
  return std::string(kThree) + R"({"session":")" + std::string(session) + R"(","ops":[["r","c",)" +
         std::to_string(result) + "]]}";
}

bool is_impossible(int result) {
  Tiny t(with_read(result));
  return impossible_sum(t.observed()).valid();
}

TEST(CounterSumsTest, AReadIsPossibleIfSomeIncrementsAddUpToIt) {
  for (const int sum : {0, 1, 2, 3, 4, 5, 6, 7}) EXPECT_FALSE(is_impossible(sum)) << sum;
  for (const int sum : {-1, 8, 100}) EXPECT_TRUE(is_impossible(sum)) << sum;
}

TEST(CounterSumsTest, TheGuessSaysOfEveryOpenRowWhetherItWasSeen) {
  for (const int result : {0, 1, 3, 7}) {  // What T1 to Tn add.
    Tiny t(with_read(result));
    ASSERT_EQ(t.items().sums().size(), 1u);
    Positions positions;
    for (std::uint32_t i = 0; i < 4; ++i) positions.begin.push_back(i);
    positions.commit = positions.begin;
    const SumGuess guess = guess_sum(t.observed(), positions, t.items().sums()[0]);
    ASSERT_TRUE(guess.is_found) << result;
    int sum = 0;
    for (const auto& [item, seen] : guess.rows) {
      const TxnId writer = t.observed().txn(row_write(t.observed(), item));
      if (seen) sum += 1 << writer.index();
    }
    EXPECT_EQ(sum, result) << "T1 adds 1, T2 adds 2, T3 adds 4";
    EXPECT_EQ(guess.is_natural, result == 7) << "in this order all three were there";
  }
}

TEST(CounterSumsTest, SessionOrderSettlesRowsWhereTheLevelHasIt) {
  Tiny t(with_read(0, "a"));  // The reader is behind T1, and did not see what it added.
  const CounterSum& sum = t.items().sums().front();
  EXPECT_TRUE(forced_rows(t.observed(), sum, Level::Serializable, 0).empty());
  const auto forced = forced_rows(t.observed(), sum, Level::SessionSerializable, 0);
  ASSERT_EQ(forced.size(), 1u);
  EXPECT_TRUE(forced[0].seen);
  EXPECT_EQ(t.observed().txn(row_write(t.observed(), forced[0].item)), Tiny::txn(1));
  EXPECT_TRUE(contradiction_of_sum(t.observed(), sum, Level::Serializable, 0).empty());
  EXPECT_FALSE(contradiction_of_sum(t.observed(), sum, Level::SessionSerializable, 0).empty());
}

}  // namespace
}  // namespace ouro
