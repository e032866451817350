// One level, decided with its predicate reads; and what follows from a stronger one.

#include "check/one_level.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

Outcome level_outcome(std::string_view text, Level level, Evidence evidence = Evidence::Observed) {
  Tiny t(text, evidence);
  CheckOptions options;
  options.evidence = evidence;
  const auto predicates = read_predicates(t.observed(), SnapshotAt::Start, Budget(), options);
  EXPECT_TRUE(predicates.ok());
  return decide_level(t.observed(), *predicates, level, Budget(), options).outcome;
}

TEST(DecideLevelTest, EachFamilyHasItsEngine) {
  const char* const lost = "T1: r x nil, w x 1\nT2: r x nil, w x 2";
  EXPECT_EQ(level_outcome(lost, Level::Causal), Outcome::Holds);
  EXPECT_EQ(level_outcome(lost, Level::Prefix), Outcome::Holds);
  EXPECT_EQ(level_outcome(lost, Level::ParallelSi), Outcome::Violated);
  EXPECT_EQ(level_outcome(lost, Level::Serializable), Outcome::Violated);
  EXPECT_EQ(level_outcome(lost, Level::Mixed), Outcome::Violated) << "all are at serializable";
}

TEST(DecideLevelTest, WrongReadsComeBeforeAnySearch) {
  EXPECT_EQ(level_outcome("T1 aborted: w x 1\nT2: r x 1", Level::ReadCommitted), Outcome::Violated);
}

// T2 saw T1's y, and its count without a version set or with that of before T1.
TEST(DecideLevelTest, PredicateReadsAreKept) {
  const auto text = [](const std::string& count) {
    return R"({"session":1,"ops":[["w","k",{"n":1}],["w","y",1]]})"
           "\n"
           R"({"session":2,"ops":[["r","y",1],["aggregate","count",null,{"ge":["n",1]},)" +
           count +
           "]]}\n"
           R"({"key":"k","versions":[{"n":1}],"complete":true})"
           "\n"
           R"({"key":"y","versions":[1],"complete":true})";
  };
  for (const Evidence evidence : {Evidence::Observed, Evidence::Versions}) {
    EXPECT_EQ(level_outcome(text("1"), Level::Serializable, evidence), Outcome::Holds);
    EXPECT_EQ(level_outcome(text("0"), Level::Serializable, evidence), Outcome::Violated);
  }
  EXPECT_EQ(level_outcome(text(R"(0,{"versions":[]})"), Level::Serializable, Evidence::Versions),
            Outcome::Violated);
  EXPECT_EQ(level_outcome(text(R"(1,{"versions":[["k",{"n":1}]]})"), Level::Serializable,
                          Evidence::Versions),
            Outcome::Holds);
}

TEST(DecideLevelTest, WhatHoldsAtAStrongerLevelHoldsInTheSameOrder) {
  const Verdict strong{
      .level = Level::Serializable, .outcome = Outcome::Holds, .order = {TxnId{1}, TxnId{0}}};
  const Verdict si = weakened(strong, Level::Si);
  EXPECT_EQ(si.level, Level::Si);
  EXPECT_EQ(si.outcome, Outcome::Holds);
  EXPECT_EQ(si.order, strong.order);
  ASSERT_EQ(si.schedule.size(), 4u);
  EXPECT_EQ(si.schedule[0].txn, TxnId{1});
  EXPECT_FALSE(si.schedule[0].commit);
  EXPECT_TRUE(si.schedule[1].commit);
  EXPECT_TRUE(weakened(strong, Level::Causal).schedule.empty());
}

TEST(DecideLevelTest, TheReasonNamesTheLimit) {
  CheckOptions options;
  options.time_limit = std::chrono::milliseconds(1500);
  options.memory_limit = 7'000'000;
  const auto said = [&](const Budget& budget) {
    const std::string reason = stop_reason(budget, options);
    return std::pair(reason, limit_named(reason));
  };
  using Said = std::pair<std::string, Limit>;
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(said(Budget(std::chrono::milliseconds(0), &cancelled)),
            Said("interrupted", Limit::Cancelled));
  EXPECT_EQ(said(Budget(std::chrono::milliseconds(0), nullptr, 1)),
            Said("memory limit of 7 MB reached", Limit::Memory));
  EXPECT_EQ(said(Budget()), Said("work limit reached", Limit::Work))
      << "what is not exhausted did not afford the rest";
  const Budget late(std::chrono::milliseconds(1), nullptr);
  while (!late.exhausted()) continue;
  EXPECT_EQ(said(late), Said("time limit of 1.5 s reached", Limit::Time));
  EXPECT_EQ(limit_named("the predicate read has no version set"), Limit::None);
  EXPECT_EQ(limit_named(""), Limit::None);
}

}  // namespace
}  // namespace ouro
