// Schedules by hand of transactions that each have a level of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/orders.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

// One transaction, at `level`; `clocks` are members, or nothing.
std::string mixed_txn(std::string_view session, std::string_view level, std::string_view ops,
                      std::string_view clocks = "") {
  return R"({"session":")" + std::string(session) + R"(","level":")" + std::string(level) + '"' +
         std::string(clocks) + R"(,"ops":[)" + std::string(ops) + "]}\n";
}

// What is said of a schedule, "b1 c1 b2 c2".
std::string mixed_order(const std::string& text, std::string_view schedule,
                        std::int64_t drift = 0) {
  const History history = oracle::history_of(text);
  const auto reading = Reading::of(history);
  EXPECT_TRUE(reading.ok());
  std::vector<Event> events;
  for (std::size_t i = 0; i + 1 < schedule.size(); i += 3) {
    events.push_back({TxnId{static_cast<std::size_t>(schedule[i + 1] - '1')}, schedule[i] == 'c'});
  }
  return check_mixed_order(*reading, drift, events);
}

constexpr const char* kReadX = R"(["r","x",null])";
constexpr const char* kWriteX = R"(["w","x",1])";

TEST(MixedOrderTest, EverybodyBeginsAndCommitsOnce) {
  const std::string text = mixed_txn("a", "rc", kWriteX) + mixed_txn("b", "si", kReadX) +
                           R"({"session":"c","status":"aborted","ops":[["w","y",1]]})";
  EXPECT_EQ(mixed_order(text, "b2 b1 c1 c2"), "");
  EXPECT_THAT(mixed_order(text, "b1 c1"), HasSubstr("leaves out"));
  EXPECT_THAT(mixed_order(text, "b2 b2 c2 b1 c1"), HasSubstr("begins twice"));
  EXPECT_THAT(mixed_order(text, "b2 c2 c2 b1 c1"), HasSubstr("commits twice"));
  EXPECT_THAT(mixed_order(text, "c2 b2 b1 c1"), HasSubstr("before it begins"));
  EXPECT_THAT(mixed_order(text, "b3 c3"), HasSubstr("does not count"));
  EXPECT_THAT(mixed_order(text, "b9 c9"), HasSubstr("does not have"));
}

TEST(MixedOrderTest, EachLevelAsksForWhatItsReaderWants) {
  const std::string writer = mixed_txn("a", "rc", kWriteX);
  const std::string over = "b2 b1 c1 c2";    // The writer commits within the reader,
  const std::string before = "b1 c1 b2 c2";  // or before it.
  EXPECT_EQ(mixed_order(writer + mixed_txn("b", "si", kReadX), over), "");
  EXPECT_THAT(mixed_order(writer + mixed_txn("b", "si", kReadX), before),
              HasSubstr("reads x as it was not when it began"));
  EXPECT_THAT(mixed_order(writer + mixed_txn("b", "ser", kReadX), over),
              HasSubstr("does not commit where it begins"));
  EXPECT_EQ(mixed_order(writer + mixed_txn("b", "causal", kReadX), before), "");
}

TEST(MixedOrderTest, WritersOfAKeyOverlapOnlyIfTheLaterOneMayLoseUpdates) {
  const auto two = [](std::string_view first, std::string_view second) {
    return mixed_txn("a", first, kWriteX) + mixed_txn("b", second, R"(["w","x",2])");
  };
  EXPECT_THAT(mixed_order(two("si", "si"), "b1 b2 c1 c2"), HasSubstr("at the same time"));
  EXPECT_THAT(mixed_order(two("rc", "si"), "b1 b2 c1 c2"), HasSubstr("at the same time"));
  EXPECT_EQ(mixed_order(two("si", "rc"), "b1 b2 c1 c2"), "");
  EXPECT_EQ(mixed_order(two("si", "prefix"), "b1 b2 c1 c2"), "");
}

TEST(MixedOrderTest, ASessionIsKeptIfEitherSideAsks) {
  const auto two = [](std::string_view first, std::string_view second) {
    return mixed_txn("a", first, kWriteX) + mixed_txn("a", second, R"(["w","y",2])");
  };
  const std::string backwards = "b2 c2 b1 c1";
  EXPECT_EQ(mixed_order(two("si", "si"), backwards), "");
  EXPECT_THAT(mixed_order(two("session-si", "si"), backwards), HasSubstr("of its session"));
  EXPECT_THAT(mixed_order(two("si", "session-si"), backwards), HasSubstr("of its session"));
  EXPECT_THAT(mixed_order(two("ser", "rc"), backwards), HasSubstr("of its session"));
}

TEST(MixedOrderTest, RealTimeIsKeptIfEitherSideAsksUpToTheDrift) {
  const auto two = [](std::string_view first, std::string_view second) {
    return mixed_txn("a", first, kWriteX, R"(,"invoked":1,"completed":2)") +
           mixed_txn("b", second, R"(["w","y",2])", R"(,"invoked":9,"completed":9)");
  };
  const std::string backwards = "b2 c2 b1 c1";
  EXPECT_EQ(mixed_order(two("ser", "si"), backwards), "");
  EXPECT_THAT(mixed_order(two("strict-ser", "rc"), backwards), HasSubstr("had completed"));
  EXPECT_THAT(mixed_order(two("rc", "strict-ser"), backwards), HasSubstr("had completed"));
  EXPECT_NE(mixed_order(two("rc", "strict-ser"), backwards, 6), "");
  EXPECT_EQ(mixed_order(two("rc", "strict-ser"), backwards, 7), "");
  EXPECT_EQ(mixed_order(two("rc", "gsi"), "b2 b1 c1 c2"), "") << "only commits count";
  EXPECT_NE(mixed_order(two("rc", "strong-si"), "b2 b1 c1 c2"), "");
}

// T3 knows of T2, be it directly or through its past, and reads x from before it.
TEST(MixedOrderTest, NobodyReadsFromBeforeWhatItKnewOf) {
  const std::string writers =
      mixed_txn("a", "rc", R"(["w","x",1])") + mixed_txn("b", "rc", R"(["w","x",2],["w","y",2])");
  const std::string order = "b1 c1 b2 c2 b3 c3";
  const std::string other = "b2 c2 b1 c1 b3 c3";
  const std::string later = R"(["r","y",2],["r","x",1])";
  const std::string sooner = R"(["r","x",1],["r","y",2])";
  EXPECT_THAT(mixed_order(writers + mixed_txn("c", "rc", later), order), HasSubstr("knew of"));
  EXPECT_EQ(mixed_order(writers + mixed_txn("c", "rc", later), other), "");
  EXPECT_EQ(mixed_order(writers + mixed_txn("c", "rc", sooner), order), "");
  EXPECT_THAT(mixed_order(writers + mixed_txn("c", "ra", sooner), order), HasSubstr("knew of"));
  const std::string session = mixed_txn("b", "ra", R"(["r","x",1])");
  EXPECT_THAT(mixed_order(writers + session, order), HasSubstr("knew of"));

  const std::string chain = writers + mixed_txn("c", "rc", R"(["r","y",2],["w","z",3])");
  const std::string end = R"(["r","z",3],["r","x",1])";
  EXPECT_EQ(mixed_order(chain + mixed_txn("d", "ra", end), order + " b4 c4"), "");
  EXPECT_THAT(mixed_order(chain + mixed_txn("d", "causal", end), order + " b4 c4"),
              HasSubstr("knew of"));
}

// T3 overwrote T2, so a reader at parallel SI that sees T3 knows of T2.
TEST(MixedOrderTest, AtParallelSiOverwrittenVersionsAreKnown) {
  const auto text = [](std::string_view overwriter, std::string_view reader) {
    return mixed_txn("a", "psi", R"(["w","x",1])") +
           mixed_txn("b", "psi", R"(["w","x",2],["w","y",2])") +
           mixed_txn("c", overwriter, R"(["w","y",3])") +
           mixed_txn("d", reader, R"(["r","y",3],["r","x",1])");
  };
  const std::string order = "b1 c1 b2 c2 b3 c3 b4 c4";
  EXPECT_THAT(mixed_order(text("psi", "psi"), order), HasSubstr("knew of"));
  EXPECT_EQ(mixed_order(text("psi", "causal"), order), "");
  EXPECT_EQ(mixed_order(text("causal", "psi"), order), "") << "T3 may have lost T2's update";
}

TEST(MixedOrderTest, ListsGrowInTheOrderOfCommits) {
  const std::string text = mixed_txn("a", "rc", R"(["append","l",1])") +
                           mixed_txn("b", "ser", R"(["append","l",2])") +
                           mixed_txn("c", "rc", R"(["r","l",[2,1]])");
  EXPECT_EQ(mixed_order(text, "b2 c2 b1 c1 b3 c3"), "");
  EXPECT_NE(mixed_order(text, "b1 c1 b2 c2 b3 c3"), "");
}

}  // namespace
}  // namespace ouro::recheck
