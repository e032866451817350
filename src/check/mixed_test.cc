// Mixtures of levels, decided with engines. tests/mixed_test.cc compares many with the oracle.

#include "check/mixed.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// A transaction at a level.
std::string at_level(const std::string& session, const std::string& level, const std::string& ops) {
  return R"({"session":")" + session + R"(","level":")" + level + R"(","ops":[)" + ops + "]}\n";
}
Outcome mixed_outcome(const std::string& text) {
  Tiny t(text);
  const Verdict verdict = check_mixed(t.observed(), Budget(), {});
  EXPECT_EQ(verdict.level, Level::Mixed);
  EXPECT_EQ(verdict.outcome == Outcome::Violated, !verdict.anomalies.empty());
  return verdict.outcome;
}

std::string skew(const std::string& first, const std::string& second) {
  return at_level("a", first, R"(["r","x",null],["w","y",1])") +
         at_level("b", second, R"(["r","y",null],["w","x",1])");
}

TEST(CheckMixedTest, WhatAReaderAsksForDependsOnItsOwnLevel) {
  EXPECT_EQ(mixed_outcome(skew("ser", "ser")), Outcome::Violated);
  EXPECT_EQ(mixed_outcome(skew("ser", "si")), Outcome::Holds);
  EXPECT_EQ(mixed_outcome(skew("rc", "ser")), Outcome::Holds);
  const auto lost = [](const std::string& first, const std::string& second) {
    return at_level("a", first, R"(["r","x",null],["w","x",1])") +
           at_level("b", second, R"(["r","x",null],["w","x",2])");
  };
  EXPECT_EQ(mixed_outcome(lost("si", "si")), Outcome::Violated);
  EXPECT_EQ(mixed_outcome(lost("si", "rc")), Outcome::Holds);
}

// Which levels are asked of all transactions together, if each holds as `holds` says.
std::string asked_alike(const std::string& text, Outcome outcome) {
  Tiny t(text);
  std::string asked;
  const auto verdict = decide_alike(t.history(), [&](Level level) {
    asked += std::string(info(level).name) + ' ';
    Verdict out{.level = level, .outcome = outcome};
    if (outcome == Outcome::Holds) out.order = {TxnId{0}, TxnId{1}};
    return out;
  });
  if (!verdict) return asked + "no answer";
  EXPECT_EQ(verdict->level, Level::Mixed);
  EXPECT_EQ(outcome == Outcome::Holds, verdict->schedule.size() == 4u) << "it has a schedule";
  return asked + std::string(name(verdict->outcome));
}

TEST(CheckMixedTest, OneLevelForAllIsThatLevel) {
  EXPECT_EQ(asked_alike(skew("si", "si"), Outcome::Violated), "si violated");
  EXPECT_EQ(asked_alike(skew("si", "si"), Outcome::Holds), "si holds");
}

TEST(CheckMixedTest, ALevelThatImpliesAllIsEnoughIfItHolds) {
  EXPECT_EQ(asked_alike(skew("rc", "ser"), Outcome::Violated), "session-serializable no answer");
  EXPECT_EQ(asked_alike(skew("rc", "ser"), Outcome::Holds), "session-serializable holds");
}

}  // namespace
}  // namespace ouro
