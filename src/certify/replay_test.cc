// Schedules by hand, replayed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/orders.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

// What replay() says of a schedule. "b1 c1 b2 c2": T1 begins, commits, then T2 does.
std::string replayed(const History& history, Level level, std::string_view schedule,
                     std::int64_t drift = 0) {
  std::vector<Event> events;
  for (std::size_t i = 0; i + 1 < schedule.size(); i += 3) {
    events.push_back({TxnId{static_cast<std::size_t>(schedule[i + 1] - '1')}, schedule[i] == 'c'});
  }
  const auto reading = Reading::of(history);
  EXPECT_TRUE(reading.ok());
  return replay(*reading, level, drift, events);
}

TEST(ReplayTest, ReadsReturnWhatWasCommittedWhenTheirTransactionBegan) {
  const History history = oracle::history_of("T1 @a: w x 1\nT2 @b: r x 1\nT3 @c: r x nil\n");
  EXPECT_EQ(replayed(history, Level::Si, "b3 b1 c1 b2 c3 c2"), "");
  EXPECT_THAT(replayed(history, Level::Si, "b3 b1 b2 c1 c3 c2"),
              HasSubstr("transaction 2 reads x"));
  EXPECT_THAT(replayed(history, Level::Si, "b1 c1 b2 c2 b3 c3"),
              HasSubstr("transaction 3 reads x"));
}

TEST(ReplayTest, EverybodyBeginsAndCommitsOnce) {
  const History history = oracle::history_of("T1 @a: w x 1\nT2 @b: w y 1\nT3 aborted: w z 1\n");
  EXPECT_EQ(replayed(history, Level::Si, "b2 b1 c1 c2"), "");
  EXPECT_THAT(replayed(history, Level::Si, "b1 c1"), HasSubstr("leaves out"));
  EXPECT_THAT(replayed(history, Level::Si, "b1 b1 c1 b2 c2"), HasSubstr("begins twice"));
  EXPECT_THAT(replayed(history, Level::Si, "b1 c1 c1 b2 c2"), HasSubstr("commits twice"));
  EXPECT_THAT(replayed(history, Level::Si, "c1 b1 b2 c2"), HasSubstr("commits before it begins"));
  EXPECT_THAT(replayed(history, Level::Si, "b1 c1 b2 c2 b3 c3"), HasSubstr("does not count"));
  EXPECT_THAT(replayed(history, Level::Si, "b1 c1 b2 c2 b9 c9"), HasSubstr("does not have"));
}

TEST(ReplayTest, WritersOfAKeyDoNotOverlapButWhereUpdatesMayBeLost) {
  const History history = oracle::history_of("T1 @a: w x 1\nT2 @b: w x 2\n");
  EXPECT_EQ(replayed(history, Level::Si, "b1 c1 b2 c2"), "");
  EXPECT_THAT(replayed(history, Level::Si, "b1 b2 c1 c2"), HasSubstr("at the same time"));
  EXPECT_EQ(replayed(history, Level::Prefix, "b1 b2 c1 c2"), "");
}

TEST(ReplayTest, SessionsAndClocksAreKeptWhereTheLevelHasThem) {
  const History history = oracle::history_of("T1 @a [1,2]: w x 1\nT2 @a [9,9]: w y 1\n");
  const std::string backwards = "b2 c2 b1 c1";
  EXPECT_EQ(replayed(history, Level::Si, backwards), "");
  EXPECT_THAT(replayed(history, Level::SessionSi, backwards), HasSubstr("of its session"));
  EXPECT_THAT(replayed(history, Level::Gsi, backwards), HasSubstr("completed before"));
  EXPECT_EQ(replayed(history, Level::Gsi, backwards, 7), "");
  EXPECT_NE(replayed(history, Level::Gsi, backwards, 6), "");
  EXPECT_EQ(replayed(history, Level::Gsi, "b2 b1 c1 c2"), "") << "only commits count";
  EXPECT_NE(replayed(history, Level::StrongSi, "b2 b1 c1 c2"), "");
}

TEST(ReplayTest, ListsGrowInTheOrderOfCommits) {
  const History history =
      oracle::history_of("T1 @a: append x 1\nT2 @b: append x 2\nT3 @c: r x [2 1]\n");
  EXPECT_EQ(replayed(history, Level::Serializable, "b2 c2 b1 c1 b3 c3"), "");
  EXPECT_NE(replayed(history, Level::Serializable, "b1 c1 b2 c2 b3 c3"), "");
}

}  // namespace
}  // namespace ouro::recheck
