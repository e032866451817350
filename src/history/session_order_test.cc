#include "history/session_order.h"

#include <gtest/gtest.h>

#include "ouro/check.h"
#include "ouro/format.h"

namespace ouro {
namespace {

constexpr char kTurned[] = R"({"session":"a","sno":7,"start_ts":5,"commit_ts":6,"ops":[["r","x",1]]}
{"session":"b","start_ts":8,"commit_ts":9,"ops":[["r","x",1]]}
{"session":"a","sno":3,"start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
)";

std::string error_of(const std::string& text) {
  const auto history = parse_history(text);
  return history.ok() ? "" : history.error().to_string();
}

TEST(SessionOrderTest, NumbersOrderASession) {
  const History history = *parse_history(kTurned);
  const auto txns = history.session_txns(SessionId{0});
  EXPECT_EQ(std::vector<TxnId>(txns.begin(), txns.end()),
            (std::vector<TxnId>{TxnId{std::size_t{2}}, TxnId{std::size_t{0}}}));
  EXPECT_EQ(history.sno(TxnId{std::size_t{0}}), 7);
  EXPECT_EQ(history.sno(TxnId{std::size_t{1}}), std::nullopt);
}

TEST(SessionOrderTest, ByTimestampsAnyOrderIsJudgedAndOtherwiseOnlyTheirOwn) {
  const History history = *parse_history(kTurned);
  for (const Level level : {Level::SessionSi, Level::SessionSerializable}) {
    EXPECT_EQ(check(history, level, {.evidence = Evidence::Timestamps})->outcome, Outcome::Holds);
  }
  const auto observed = check(history, Level::SessionSi);
  ASSERT_FALSE(observed.ok());
  EXPECT_EQ(
      observed.error().to_string(),
      "input:3: the transaction stands behind one of its session that has a greater \"sno\" than "
      "3; sort them, or use --evidence timestamps");
  const History sorted = *parse_history(
      "{\"session\":1,\"sno\":3,\"ops\":[]}\n{\"session\":1,\"sno\":4,\"ops\":[]}\n");
  EXPECT_EQ(check(sorted, Level::SessionSi)->outcome, Outcome::Holds);
}

TEST(SessionOrderTest, NumbersThatDoNotCountAreRefused) {
  EXPECT_EQ(
      error_of("{\"session\":1,\"sno\":3,\"ops\":[]}\n{\"session\":1,\"sno\":3,\"ops\":[]}\n"),
      "input:2: the \"sno\" 3 is that of another transaction of its session, too; count them");
  EXPECT_EQ(
      error_of("{\"session\":1,\"sno\":3,\"ops\":[]}\n{\"session\":1,\"ops\":[]}\n"),
      "input:2: the transaction has no \"sno\", but others of its session have; give it to all of "
      "them or to none");
  EXPECT_EQ(error_of("{\"session\":1,\"sno\":\"3\",\"ops\":[]}\n"),
            "input:1: expected \"sno\" to be a 64-bit integer");
}

}  // namespace
}  // namespace ouro
