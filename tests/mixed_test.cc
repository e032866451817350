// Mixed levels: engine, certificates and the brute-force oracle must agree; and where all
// transactions state one level, that level says the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "ouro/asked_levels.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/explain.h"
#include "ouro/format.h"
#include "ouro/report.h"
#include "tests/certifying.h"
#include "tests/mixed_oracle.h"
#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/statements.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

using ::testing::HasSubstr;

std::string as_text(const History& history) {
  std::string text;
  EXPECT_TRUE(print_history(history, Format::Native, text).ok());
  return text;
}

// The history with a level for each transaction, as chosen by `level(number of the line)`.
template <class F>
History with_levels(const History& history, const F& level) {
  std::string text = as_text(history);
  std::size_t number = 0;
  for (std::size_t at = text.find(",\"ops\":"); at != std::string::npos;
       at = text.find(",\"ops\":", at + 1)) {
    const std::string field = ",\"level\":\"" + std::string(info(level(number++)).name) + "\"";
    text.insert(at, field);
    at += field.size();
  }
  auto out = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(out.ok()) << out.error().to_string() << '\n' << text;
  return *std::move(out);
}

Level level_number(std::size_t number) { return levels()[number % kLevelCount].level; }

RandomShape small_shape(std::uint64_t seed) {
  RandomShape shape = mixed_shape(seed);
  shape.max_txns = 5;
  shape.lists = false;
  shape.clocks = seed % 2 == 0 ? 0.5 : 0;
  return shape;
}

// Lists have no version order of their own in the oracle of mixtures, so there are none here.
TEST(MixedTest, OneLevelForAllIsThatLevel) {
  for (std::uint64_t seed = 1; seed <= 400 / kSlowdown; ++seed) {
    const History history = random_history(seed, small_shape(seed));
    const LevelSet allowed = allowed_levels(history);
    for (const LevelInfo& level : levels()) {
      const History same = with_levels(history, [&](std::size_t) { return level.level; });
      ASSERT_EQ(mixture_allowed(same), allowed.has(level.level))
          << "seed " << seed << ' ' << level.name << '\n'
          << as_text(same);
    }
    const Level level = level_number(seed);
    const History same = with_levels(history, [&](std::size_t) { return level; });
    const auto mixed = check(same, Level::Mixed);
    ASSERT_TRUE(mixed.ok()) << mixed.error().to_string();
    ASSERT_EQ(mixed->outcome == Outcome::Holds, allowed.has(level)) << as_text(same);
    ASSERT_EQ(complaint_about_proof(same, *mixed), "") << as_text(same);
  }
}

struct Tally {
  std::map<Outcome, int> outcomes;

  void add(const History& history, const std::string& where) {
    const auto verdict = check(history, Level::Mixed);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    ++outcomes[verdict->outcome];
    if (verdict->outcome == Outcome::Undecided) {
      EXPECT_NE(verdict->reason, "") << where << as_text(history);
      return;
    }
    ASSERT_EQ(verdict->outcome == Outcome::Holds, mixture_allowed(history))
        << where << as_text(history);
    ASSERT_EQ(complaint_about_proof(history, *verdict), "") << where << as_text(history);
  }
};

TEST(MixedTest, RandomMixturesAgreeWithTheOracle) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 1500 / kSlowdown; ++seed) {
    std::mt19937_64 random(seed);
    const History history = with_levels(random_history(seed, small_shape(seed)),
                                        [&](std::size_t) { return level_number(random()); });
    ASSERT_NO_FATAL_FAILURE(tally.add(history, "seed " + std::to_string(seed) + '\n'));
  }
  const int holds = tally.outcomes[Outcome::Holds];
  const int violated = tally.outcomes[Outcome::Violated];
  EXPECT_GT(holds, 100 / static_cast<int>(kSlowdown));
  EXPECT_GT(violated, 100 / static_cast<int>(kSlowdown));
  EXPECT_EQ(tally.outcomes[Outcome::Undecided], 0);
}

// Two levels, as databases are used, and values that repeat.
TEST(MixedTest, PairsOfLevelsAgreeWithTheOracle) {
  constexpr Level kWeak[] = {Level::ReadCommitted, Level::ReadAtomic, Level::Causal, Level::Prefix};
  constexpr Level kStrong[] = {Level::Serializable, Level::SessionSi, Level::Si,
                               Level::StrictSerializable};
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 1000 / kSlowdown; ++seed) {
    std::mt19937_64 random(seed);
    RandomShape shape = seed % 3 == 0 ? repeating_shape(seed) : small_shape(seed);
    const Level weak = kWeak[random() % 4];
    const Level strong = kStrong[random() % 4];
    const History history = with_levels(random_history(seed, shape), [&](std::size_t) {
      return random() % 2 == 0 ? weak : strong;
    });
    ASSERT_NO_FATAL_FAILURE(tally.add(history, "seed " + std::to_string(seed) + '\n'));
  }
  EXPECT_EQ(tally.outcomes[Outcome::Undecided], 0);
}

// What transactions at parallel-si know of depends on who overwrote whom.
TEST(MixedTest, ParallelSiBesideOthersAgreesWithTheOracle) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 3000 / kSlowdown; ++seed) {
    std::mt19937_64 random(seed);
    RandomShape shape = seed % 3 == 0 ? repeating_shape(seed) : small_shape(seed);
    if (seed % 2 == 0) shape.rmw = 0.7;
    const History history = with_levels(random_history(seed, shape), [&](std::size_t) {
      return random() % 3 != 0 ? Level::ParallelSi : level_number(random());
    });
    ASSERT_NO_FATAL_FAILURE(tally.add(history, "seed " + std::to_string(seed) + '\n'));
  }
  EXPECT_GT(tally.outcomes[Outcome::Holds], 300 / static_cast<int>(kSlowdown));
  EXPECT_GT(tally.outcomes[Outcome::Violated], 300 / static_cast<int>(kSlowdown));
  EXPECT_EQ(tally.outcomes[Outcome::Undecided], 0);
}

constexpr char kLostUpdate[] = R"({"session":"a","level":"psi","ops":[["r","x",null],["w","x",1]]}
{"session":"b","level":"psi","ops":[["r","x",null],["w","x",2]]}
{"session":"c","level":"ser","ops":[["r","x",1]]}
)";

TEST(MixedTest, ALostUpdateAtParallelSiIsProven) {
  const auto history = parse_history(kLostUpdate, {.format = Format::Native});
  const auto verdict = check(*history, Level::Mixed);
  ASSERT_EQ(verdict->outcome, Outcome::Violated);
  EXPECT_EQ(complaint_about_proof(*history, *verdict), "");
  EXPECT_THAT(describe(*history, *verdict), HasSubstr("lost update"));
}

TEST(MixedTest, AllTinyMixturesAgreeWithTheOracle) {
  constexpr Level kSome[] = {Level::ReadCommitted, Level::Causal, Level::SessionSi,
                             Level::Serializable};
  std::size_t number = 0;
  Tally tally;
  Shape shape;
  shape.stride = 97 * kSlowdown;
  for_each_history(shape, [&](const History& history) {
    if (testing::Test::HasFatalFailure()) return;
    std::size_t mixture = ++number;
    const History mixed = with_levels(history, [&](std::size_t) {
      const Level level = kSome[mixture % 4];
      mixture /= 4;
      return level;
    });
    tally.add(mixed, "");
  });
  EXPECT_GT(number, 500 / kSlowdown);
}

// Selects, aggregates, updates by predicate: what they saw counts by the level of their
// transaction.
TEST(MixedTest, StatementsAreJudgedByTheLevelOfTheirTransaction) {
  Tally tally;
  int judged = 0;
  int predicates = 0;
  for (std::uint64_t seed = 1; seed <= 800 / kSlowdown; ++seed) {
    const RandomStatements statements(seed, {.stale = 0.5});
    const auto plain = parse_history(statements.text(), {.format = Format::Native});
    ASSERT_TRUE(plain.ok()) << plain.error().to_string();
    std::size_t ways = 0;
    any_sources(*plain, Evidence::Observed, [&](const Sources&) { return ++ways > 200; });
    if (ways > 200) continue;
    ++judged;
    predicates += plain->has_predicate_reads() ? 1 : 0;
    std::mt19937_64 random(seed);
    const Level same = level_number(random());
    const History one = with_levels(*plain, [&](std::size_t) { return same; });
    ASSERT_EQ(mixture_allowed(one), allowed(*plain, same)) << as_text(one);
    const History mixed = with_levels(*plain, [&](std::size_t) { return level_number(random()); });
    const std::string where = "seed " + std::to_string(seed) + '\n';
    ASSERT_NO_FATAL_FAILURE(tally.add(one, where));
    ASSERT_NO_FATAL_FAILURE(tally.add(mixed, where));
  }
  EXPECT_GT(predicates, judged / 2);
  EXPECT_GT(tally.outcomes[Outcome::Holds], judged / 4);
  EXPECT_GT(tally.outcomes[Outcome::Violated], judged / 10);
  EXPECT_EQ(tally.outcomes[Outcome::Undecided], 0);
}

constexpr char kReport[] =
    R"({"session":"a","level":"ser","ops":[["w","x",1],["w","y",1]]}
{"session":"b","level":"ser","ops":[["r","x",1],["w","x",2],["w","y",2]]}
{"session":"c","level":"LEVEL","ops":[["r","x",1],["r","y",2]]}
)";

History report_at(const std::string& level) {
  std::string text = kReport;
  text.replace(text.find("LEVEL"), 5, level);
  auto history = parse_history(text, {.format = Format::Native});
  EXPECT_TRUE(history.ok());
  return *std::move(history);
}

TEST(MixedTest, AReaderIsJudgedByItsOwnLevel) {
  EXPECT_EQ(check(report_at("rc"), Level::Mixed)->outcome, Outcome::Holds);
  for (const char* level : {"ra", "cc", "pc", "psi", "si", "ser", "strict-ser", "rr"}) {
    const History history = report_at(level);
    const auto verdict = check(history, Level::Mixed);
    EXPECT_EQ(verdict->outcome, Outcome::Violated) << level;
    EXPECT_EQ(complaint_about_proof(history, *verdict), "") << level;
    EXPECT_FALSE(explain(history, *verdict).stories.empty()) << level;
  }
}

// A proof is about the levels that transactions state.
// Neither level has sessions, so a snapshot may miss what its session committed before.
TEST(MixedTest, PredicatesOfLevelsWithoutSessionsAreProven) {
  const auto history = parse_history(R"({"ouro":1,"initial":0}
{"session":"a","level":"ser","ops":[["w","x",null],["r","y",0]]}
{"session":"a","level":"ser","ops":[["r","x",0],["w","x",0],["w","y",0]]}
{"session":"a","level":"si","ops":[["aggregate","max",null,{"ge":["@key","y"]},"y"]]}
)");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto verdict = check(*history, Level::Mixed);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->outcome, Outcome::Holds);
  const auto answer = certify(*history, make_certificate(*history, *verdict));
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->accepted) << answer->reason;
}

TEST(MixedTest, ProofsForOtherLevelsAreRejected) {
  const History allowed = report_at("rc");
  const auto holds = check(allowed, Level::Mixed);
  for (const char* level : {"ra", "cc", "pc", "psi", "si", "ser"}) {
    const History forbidden = report_at(level);
    const auto violated = check(forbidden, Level::Mixed);
    EXPECT_FALSE(accepted(forbidden, *holds)) << level;
    EXPECT_FALSE(accepted(allowed, *violated)) << level;
    EXPECT_FALSE(accepted(allowed, make_certificate(forbidden, *violated))) << level;
  }
}

TEST(MixedTest, FormatsKeepLevels) {
  const History history = report_at("rc");
  EXPECT_TRUE(history.states_levels());
  EXPECT_EQ(history.level(TxnId{2}), Level::ReadCommitted);
  std::string bytes;
  ASSERT_TRUE(print_history(history, Format::NativeBinary, bytes).ok());
  const auto again = parse_history(bytes, {.format = Format::NativeBinary});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(as_text(*again), as_text(history));
  EXPECT_THAT(as_text(history), HasSubstr(R"("level":"read-committed")"));
}

// Two transactions at rc lost an update: right for them, wrong at every level that other evidence
// would judge all of them by. Nobody asked for that.
TEST(MixedTest, OtherEvidenceJudgesByNoLevelThatNobodyNamed) {
  constexpr char kLost[] =
      R"({"session":"a","level":"rc","start_ts":1,"commit_ts":3,"ops":[["r","x",null],["w","x",1]]}
{"session":"b","level":"rc","start_ts":2,"commit_ts":4,"ops":[["r","x",null],["w","x",2]]}
{"key":"x","versions":[1,2],"complete":true}
)";
  const History history = *parse_history(kLost);
  EXPECT_EQ(check(history, usual_level(history, Evidence::Observed))->outcome, Outcome::Holds);
  for (const Evidence evidence : {Evidence::Versions, Evidence::Timestamps}) {
    const auto verdict = check(history, usual_level(history, evidence), {.evidence = evidence});
    ASSERT_FALSE(verdict.ok());
    EXPECT_THAT(verdict.error().what, HasSubstr("it needs 'observed', or name one level"));
    EXPECT_EQ(check(history, Level::Serializable, {.evidence = evidence})->outcome,
              Outcome::Violated);
  }
}

TEST(MixedTest, AnUnknownLevelIsAnErrorWithItsLine) {
  std::string text = kReport;
  const auto wrong = parse_history(text, {.format = Format::Native}, "h.jsonl");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().to_string().substr(0, 10), "h.jsonl:3:") << wrong.error().to_string();
  EXPECT_THAT(wrong.error().to_string(), HasSubstr("unknown level 'LEVEL'"));
}

TEST(MixedTest, WithoutStatedLevelsAllAreSerializable) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const History history = random_history(seed, small_shape(seed));
    EXPECT_EQ(check(history, Level::Mixed)->outcome, check(history, Level::Serializable)->outcome);
  }
}

}  // namespace
}  // namespace ouro::oracle
