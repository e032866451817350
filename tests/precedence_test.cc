// What must precede what: must_precede() and its answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "explain/row_difference.h"
#include "history/columns.h"
#include "ouro/certificate.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/ordinary_data.h"
#include "tests/random_rows.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

ExplainOptions thorough() {
  ExplainOptions options;
  options.work_limit = 0;
  options.threads = 1;
  return options;
}

Precedence must_precede(std::string_view text, std::size_t first, std::size_t second, Level level) {
  const auto answer =
      precedence(history_of(text), TxnId{first - 1}, TxnId{second - 1}, level, thorough());
  EXPECT_TRUE(answer.ok());
  return *answer;
}

TEST(PrecedenceTest, FollowsFromAPathOfEdges) {
  constexpr const char* kChain = "initial 0\nT1: w x 1\nT2: r x 1, w y 1\nT3: r y 1\nT4: r y 0";
  const Precedence forward = must_precede(kChain, 1, 3, Level::Serializable);
  EXPECT_EQ(forward.answer, Precedence::Answer::Required);
  ASSERT_EQ(forward.story.cases.size(), 1u);
  const std::vector<Edge>& path = forward.story.cases[0].cycle;
  ASSERT_EQ(path.size(), 2u);
  EXPECT_EQ(path[0].from, TxnId{0});
  EXPECT_EQ(path[1].to, TxnId{2});
  EXPECT_EQ(must_precede(kChain, 3, 1, Level::Serializable).answer, Precedence::Answer::Open);
  EXPECT_EQ(must_precede(kChain, 4, 1, Level::Serializable).answer, Precedence::Answer::Open);
  EXPECT_EQ(must_precede(kChain, 4, 2, Level::Serializable).answer, Precedence::Answer::Required);
  EXPECT_EQ(must_precede(kChain, 4, 2, Level::Si).answer, Precedence::Answer::Open)
      << "a snapshot that misses a write may be taken before or after it";
}

TEST(PrecedenceTest, FollowsFromVersionOrdersIfTheyCount) {
  const auto history = parse_history(
      R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["w","x",2]]}
{"key":"x","versions":[2,1],"complete":true}
)");
  ASSERT_TRUE(history.ok());
  ExplainOptions options = thorough();
  const auto ask = [&](TxnId first, TxnId second) {
    return precedence(*history, first, second, Level::Serializable, options)->answer;
  };
  EXPECT_EQ(ask(TxnId{1}, TxnId{0}), Precedence::Answer::Open);
  options.evidence = Evidence::Versions;
  EXPECT_EQ(ask(TxnId{1}, TxnId{0}), Precedence::Answer::Required);
  EXPECT_EQ(ask(TxnId{0}, TxnId{1}), Precedence::Answer::Open);
  options.evidence = Evidence::Timestamps;
  EXPECT_FALSE(precedence(*history, TxnId{0}, TxnId{1}, Level::Si, options).ok());
}

TEST(PrecedenceTest, WhatALimitLeavesOpenIsUndecided) {
  const auto history = parse_history(R"({"session":"a","ops":[["w","x",1]]}
{"session":"b","ops":[["r","x",1]]}
)");
  ASSERT_TRUE(history.ok());
  ExplainOptions options = thorough();
  const auto ask = [&] {
    return precedence(*history, TxnId{0}, TxnId{1}, Level::Serializable, options)->answer;
  };
  EXPECT_EQ(ask(), Precedence::Answer::Required);
  options.memory_limit = 1;
  EXPECT_EQ(ask(), Precedence::Answer::Undecided);
}

TEST(PrecedenceTest, AgreesWithTheOraclesOrders) {
  std::size_t required = 0;
  for (std::uint64_t seed = 1; seed <= 300 / kSlowdown; ++seed) {
    const History history = random_history(seed, mixed_shape(seed));
    if (!allowed(history, Level::SessionSerializable)) continue;
    const auto verdict = check(history, Level::SessionSerializable);
    ASSERT_TRUE(verdict.ok());
    const auto& order = verdict->order;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      // The order at hand has i first, so the other way round cannot be required.
      const auto back =
          precedence(history, order[i + 1], order[i], Level::SessionSerializable, thorough());
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(back->answer, Precedence::Answer::Open) << "seed " << seed;
      const auto forth =
          precedence(history, order[i], order[i + 1], Level::SessionSerializable, thorough());
      std::vector<TxnId> swapped = order;
      std::swap(swapped[i], swapped[i + 1]);
      const bool free = order_proves(history, Level::SessionSerializable, swapped);
      if (free) {
        EXPECT_EQ(forth->answer, Precedence::Answer::Open) << "seed " << seed;
      }
      required += forth->answer == Precedence::Answer::Required ? 1 : 0;
    }
  }
  EXPECT_GT(required, 20 / kSlowdown);
}

// At levels below those of snapshots, precedence is about the commit order.
TEST(PrecedenceTest, BelowSnapshotsFollowsTheCommitOrder) {
  constexpr const char* kChain = "initial 0\nT1: w x 1\nT2: r x 1, w y 1\nT3: r y 1\nT4: r y 0";
  constexpr const char* kForced = "T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, r x 1";
  constexpr const char* kSession = "T1 @a: w x 1\nT2 @a: w y 1";
  for (const Level level :
       {Level::ReadCommitted, Level::ReadAtomic, Level::Causal, Level::Prefix}) {
    const Precedence forward = must_precede(kChain, 1, 3, level);
    EXPECT_EQ(forward.answer, Precedence::Answer::Required) << info(level).name;
    ASSERT_EQ(forward.story.cases.size(), 1u) << info(level).name;
    EXPECT_EQ(forward.story.cases[0].cycle.size(), 2u) << info(level).name;
    EXPECT_TRUE(forward.story.cases[0].given.empty()) << info(level).name;
    EXPECT_EQ(must_precede(kChain, 3, 1, level).answer, Precedence::Answer::Open);
    EXPECT_EQ(must_precede(kChain, 4, 1, level).answer, Precedence::Answer::Open);
    const Precedence forced = must_precede(kForced, 2, 1, level);
    EXPECT_EQ(forced.answer, Precedence::Answer::Required) << info(level).name;
    EXPECT_EQ(forced.story.cases.size(), level == Level::Prefix ? 2u : 1u) << info(level).name;
    EXPECT_EQ(must_precede(kForced, 1, 2, level).answer, Precedence::Answer::Open);
    EXPECT_EQ(must_precede(kSession, 1, 2, level).answer, Precedence::Answer::Required);
  }
}

bool has_open_reads(const History& history) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    if (is_open_read(history.op(OpId{i}).kind)) return true;
  }
  return false;
}

TEST(PrecedenceTest, BelowSnapshotsAgreesWithTheOraclesOrders) {
  std::size_t required = 0;
  for (const Level level :
       {Level::ReadCommitted, Level::ReadAtomic, Level::Causal, Level::Prefix}) {
    for (std::uint64_t seed = 1; seed <= 200 / kSlowdown; ++seed) {
      const History history = random_history(seed, mixed_shape(seed));
      if (!allowed(history, level)) continue;
      const auto order = check(history, level)->order;
      for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const auto back = precedence(history, order[i + 1], order[i], level, thorough());
        ASSERT_TRUE(back.ok());
        EXPECT_EQ(back->answer, Precedence::Answer::Open) << info(level).name << " seed " << seed;
        const auto forth = precedence(history, order[i], order[i + 1], level, thorough());
        std::vector<TxnId> swapped = order;
        std::swap(swapped[i], swapped[i + 1]);
        const bool free = order_proves(history, level, swapped);
        const bool must = forth->answer == Precedence::Answer::Required;
        // Below prefix, what is forced depends neither on the order of other transactions nor,
        // unless there are open reads, on what reads returned.
        const bool depends = level == Level::Prefix || has_open_reads(history);
        EXPECT_TRUE(depends ? !(free && must) : free != must)
            << info(level).name << " seed " << seed;
        required += must ? 1 : 0;
      }
    }
  }
  EXPECT_GT(required, 20 / kSlowdown);
}

TEST(PrecedenceTest, OfAViolatedHistoryTheStrongestLevelThatHoldsIsAsked) {
  const Precedence answer =
      must_precede("T1: r x nil, w x 1\nT2: r x nil, w x 2\nT3: r x 1", 1, 3, Level::Serializable);
  EXPECT_EQ(answer.answer, Precedence::Answer::Required);
  EXPECT_EQ(answer.level, Level::Prefix) << info(answer.level).name;
}

TEST(PrecedenceTest, OfAHistoryThatViolatesAllTheViolationIsTold) {
  const Precedence answer = must_precede("T1: r x 7\nT2: w x 2", 1, 2, Level::Serializable);
  EXPECT_EQ(answer.answer, Precedence::Answer::Violated);
  EXPECT_EQ(answer.story.pattern, Pattern::ThinAirRead);
}

// Where neither must precede the other, each answer has an order of the other way round.
TEST(PrecedenceTest, OpenAnswersComeWithAnOrder) {
  const auto place = [](const Precedence& answer, TxnId txn, bool commit) {
    const auto at = std::find_if(answer.order.begin(), answer.order.end(), [&](const Event& event) {
      return event.txn == txn && event.commit == commit;
    });
    EXPECT_NE(at, answer.order.end());
    return at - answer.order.begin();
  };
  for (const Level level : {Level::Serializable, Level::Si, Level::Prefix, Level::ReadCommitted}) {
    const Precedence answer = must_precede("T1: w x 1\nT2: w y 2\nT3: r x 1, r y 2", 1, 2, level);
    ASSERT_EQ(answer.answer, Precedence::Answer::Open) << info(level).name;
    const bool begins = level == Level::Si;
    EXPECT_LT(place(answer, TxnId{1}, !begins), place(answer, TxnId{0}, true)) << info(level).name;
  }
}

}  // namespace
}  // namespace ouro::oracle
