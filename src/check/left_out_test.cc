#include "check/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ouro/certificate.h"
#include "ouro/examine.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "ouro/report.h"

namespace ouro {
namespace {

using ::testing::HasSubstr;

// What a check at `level` leaves out, in words; "-" if it does not hold.
std::string left(std::string_view text, Level level, Evidence evidence = Evidence::Observed) {
  const auto history = parse_history(text, {.format = Format::Native});
  if (!history.ok()) return history.error().to_string();
  const auto verdict = check(*history, level, {.evidence = evidence});
  if (!verdict.ok()) return verdict.error().to_string();
  return verdict->outcome == Outcome::Holds ? describe(verdict->left_out) : "-";
}

constexpr char kNoClocks[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["r","x",1]]}
)";
constexpr char kSomeClocks[] = R"({"session":"a","invoked":1,"completed":2,"ops":[["w","x",1]]}
{"session":"b","invoked":3,"ops":[["r","x",1]]}
{"session":"c","status":"aborted","ops":[]}
)";
constexpr char kAllClocks[] = R"({"session":"a","invoked":1,"completed":2,"ops":[["w","x",1]]}
{"session":"b","invoked":3,"completed":4,"ops":[["r","x",1]]}
{"session":"c","status":"unknown","invoked":3,"ops":[["w","x",2]]}
)";

TEST(LeftOutTest, WithoutClocksNothingIsSaidAboutRealTime) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level)) continue;
    const bool timed = level.level == Level::Gsi || level.level == Level::PrefixConsistentSi ||
                       level.level == Level::StrongSi || level.level == Level::StrictSerializable;
    EXPECT_EQ(left(kNoClocks, level.level),
              timed ? "no transaction has clocks, so nothing is said about real time" : "")
        << level.name;
    EXPECT_EQ(left(kAllClocks, level.level), "") << level.name;
  }
  EXPECT_EQ(left(kSomeClocks, Level::StrictSerializable),
            "1 of 2 transactions have no clocks, so real time is checked between the others only");
}

constexpr char kNoSessions[] = R"({"session":null,"ops":[["w","x",1]]}
{"session":null,"ops":[["r","x",null]]}
)";
constexpr char kSomeSessions[] = R"({"session":"a","ops":[["w","x",1]]}
{"session":"a","ops":[["r","x",1]]}
{"session":null,"ops":[["r","x",null]]}
)";

TEST(LeftOutTest, WithoutSessionsNothingIsSaidAboutTheirOrder) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level)) continue;
    const bool orderless = level.level == Level::Si || level.level == Level::Gsi ||
                           level.level == Level::RepeatableRead ||
                           level.level == Level::Serializable || level.level == Level::Mixed;
    EXPECT_EQ(left(kNoSessions, level.level)
                      .find("no transaction has a session, so nothing is "
                            "said about session order") != std::string::npos,
              !orderless)
        << level.name;
  }
  EXPECT_EQ(left(kSomeSessions, Level::Causal),
            "1 of 3 transactions have no session, so session order is checked between the others "
            "only");
  EXPECT_EQ(left(R"({"session":null,"ops":[["w","x",1]]})", Level::Causal), "");
  constexpr char kMixed[] = R"({"session":null,"level":"%","ops":[["w","x",1]]}
{"session":null,"level":"ser","ops":[["r","x",null]]}
)";
  const auto mixed = [&](std::string_view level) {
    return left(std::string(kMixed).replace(std::string(kMixed).find('%'), 1, level), Level::Mixed);
  };
  EXPECT_EQ(mixed("si"), "");
  EXPECT_EQ(mixed("rc"), "no transaction has a session, so nothing is said about session order");
}

TEST(LeftOutTest, WithoutSessionsTheStrongestLevelIsOneWithoutTheirOrder) {
  const History history = *parse_history(kNoSessions);
  const auto strongest = [&](const History& h, std::vector<Level> levels) {
    return strongest_holding(*check(h, levels));
  };
  EXPECT_EQ(strongest(history, {Level::Causal, Level::SessionSi, Level::StrictSerializable}),
            std::vector{Level::Serializable});
  EXPECT_EQ(strongest(history, {Level::ReadCommitted, Level::Causal}), std::vector{Level::Causal});
  const History timed = *parse_history(
      R"({"session":null,"invoked":1,"completed":2,"ops":[["w","x",1]]}
{"session":null,"invoked":3,"completed":4,"ops":[["r","x",1]]}
)");
  EXPECT_EQ(strongest(timed, {Level::Causal, Level::StrictSerializable}),
            std::vector{Level::StrictSerializable});
}

TEST(LeftOutTest, AViolationLeavesOutNothing) {
  const auto history = parse_history(R"({"session":"a","ops":[["r","x",7]]})");
  const auto verdict = check(*history, Level::StrictSerializable);
  EXPECT_EQ(verdict->outcome, Outcome::Violated);
  EXPECT_TRUE(verdict->left_out.empty());
}

TEST(LeftOutTest, PredicatesAreEvaluatedIfTheirResultsAreKnown) {
  constexpr char kSelects[] =
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","k",{"c":1}]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["select",{"eq":["c",1]},[["k",{"c":1}]]]]}
{"session":"b","start_ts":5,"commit_ts":6,"ops":[["aggregate","count",null,{"eq":["c",1]}]]}
)";
  for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps}) {
    EXPECT_EQ(left(kSelects, Level::Serializable, evidence), "1 read has no recorded result");
  }
}

// Whether the session wrote a row that its select missed is found out by observation.
TEST(LeftOutTest, BelowPrefixVersionOrdersDoNotJudgeReadsThatDoNotSayWhatTheySaw) {
  constexpr char kMissed[] =
      R"({"session":"a","ops":[["w","x",1]]}
{"session":"a","ops":[["select",{"eq":["@key","x"]},[]]]}
{"key":"x","versions":[1],"complete":true}
)";
  constexpr char kEarlier[] =
      R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["select",{"eq":["@key","x"]},[]]]}
{"key":"x","versions":[1],"complete":true}
)";
  for (const Level level : {Level::ReadAtomic, Level::Causal}) {
    EXPECT_EQ(left(kEarlier, level, Evidence::Versions),
              "1 predicate read does not say what it saw, so what it missed is judged from prefix "
              "up only");
    EXPECT_EQ(left(kMissed, level, Evidence::Versions), "-");
    EXPECT_EQ(left(kMissed, level), "-");
  }
  EXPECT_EQ(left(kMissed, Level::Prefix, Evidence::Versions), "-");
  constexpr char kSaysSo[] =
      R"({"session":"a","ops":[["w","x",1]]}
{"session":"a","ops":[["select",{"eq":["@key","x"]},[],{"versions":[]}]]}
{"key":"x","versions":[1],"complete":true}
)";
  EXPECT_EQ(left(kSaysSo, Level::ReadCommitted, Evidence::Versions), "");
  EXPECT_EQ(left(kSaysSo, Level::ReadAtomic, Evidence::Versions), "-");
}

// Both transfers found enough money, one after the other could not have.
constexpr char kOverdrawn[] =
    R"({:type :ok :f :read :value {0 5, 1 0, 2 0} :process 0}
{:type :ok :f :transfer :value {:from 0 :to 1 :amount 4} :process 0}
{:type :ok :f :transfer :value {:from 0 :to 2 :amount 4} :process 1}
{:type :ok :f :read :value {0 -3, 1 4, 2 4} :process 2}
)";

TEST(LeftOutTest, WhatTransfersOfABankCheckedIsNotRecorded) {
  const History history = *parse_history(kOverdrawn);
  const auto verdict = check(history, Level::Serializable);
  ASSERT_EQ(verdict->outcome, Outcome::Holds);
  EXPECT_EQ(describe(verdict->left_out),
            "1 of 6 balances that were read is negative, and what transfers checked is not "
            "recorded");
  EXPECT_EQ(strongest_holding({&*verdict, 1}), std::vector{Level::Serializable});
}

TEST(LeftOutTest, OfAViolatedBankNegativeBalancesAreTold) {
  const std::string skewed = std::string(kOverdrawn) +
                             "{:type :ok :f :read :value {0 1, 1 0, 2 4} :process 2}\n"
                             "{:type :ok :f :read :value {0 -3, 1 4, 2 0} :process 3}\n";
  const History history = *parse_history(skewed);
  const auto examination = examine(history, {.levels = {Level::Serializable}});
  ASSERT_TRUE(examination.ok());
  const std::string told = describe(history, *examination, {.name = "h"});
  EXPECT_THAT(told, HasSubstr("found a negative balance: r 0=-3")) << told;
}

TEST(LeftOutTest, ReadsWithoutAResultAreCounted) {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.read(b.key("x"), Value::unobserved());
  b.read(b.key("x"), Value::unobserved());
  b.read(b.key("x"), Value::null());
  const History history = *std::move(b).freeze();
  const std::vector<LeftOut> out = left_out(history, Level::Serializable);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].kind, LeftOutKind::Results);
  EXPECT_EQ(out[0].count, 2U);
  EXPECT_EQ(out[0].total, 3U);
  EXPECT_FALSE(out[0].all());
}

TEST(LeftOutTest, IfNothingCommittedNothingWasChecked) {
  EXPECT_EQ(left(R"({"session":"a","status":"aborted","ops":[["w","x",1]]})", Level::Serializable),
            "no transaction committed, so nothing was checked");
}

TEST(LeftOutTest, PiecesAddUp) {
  Coverage pieces;
  for (const auto* text : {kNoClocks, kAllClocks}) pieces.add(*parse_history(text));
  const std::vector<LeftOut> out = pieces.left_out(Level::Gsi, Evidence::Timestamps);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].count, 2U);
  EXPECT_EQ(out[0].total, 4U);
}

TEST(LeftOutTest, AHistoryWithoutTransactionsIsRefused) {
  EXPECT_EQ(left("{\"ouro\":1}\n", Level::Serializable),
            "there are no transactions, so there is nothing to check; it was read as Ouro's JSON "
            "Lines, one transaction a line");
  const History none;
  EXPECT_FALSE(check(none, Level::Causal).ok());
  EXPECT_FALSE(examine(none, {.levels = {Level::Causal}}).ok());
  Certificate certificate;
  EXPECT_FALSE(certify(none, certificate).ok());
}

TEST(LeftOutTest, TheStrongestLevelIsOneThatWasChecked) {
  const History history = *parse_history(kNoClocks);
  const auto verdict = check(history, Level::StrictSerializable);
  const std::vector<Level> strongest = strongest_holding({&*verdict, 1});
  EXPECT_EQ(strongest, std::vector{Level::SessionSerializable});
  EXPECT_THAT(
      headline(history, *verdict),
      HasSubstr("holds strict-serializable as far as was checked (no transaction has clocks"));
  const History timed = *parse_history(kAllClocks);
  const auto other = check(timed, Level::StrictSerializable);
  EXPECT_EQ(strongest_holding({&*other, 1}), std::vector{Level::StrictSerializable});
}

}  // namespace
}  // namespace ouro
