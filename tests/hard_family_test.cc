// Small members of the hard families (bench/frontier): all ways to search must agree, with each
// other and with Z3, and every verdict must be proven.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/frontier/family.h"
#include "bench/frontier/formulas.h"
#include "ouro/check.h"
#include "tests/certifying.h"
#include "tests/this_build.h"
#include "tests/z3_oracle.h"

namespace ouro {
namespace {

// On demand alone, the full search from the start, and what check() does by itself.
std::vector<CheckOptions> ways() {
  std::vector<CheckOptions> ways(3);
  ways[0].search.saturation = false;
  ways[1].search.many = 0;
  return ways;
}

// The outcome that all ways agree on. Undecided if they do not, with a failure.
Outcome agreed(const History& history, Level level) {
  std::vector<Outcome> outcomes;
  for (const CheckOptions& options : ways()) {
    const auto verdict = check(history, level, options);
    if (!verdict.ok() || verdict->outcome == Outcome::Undecided) {
      ADD_FAILURE() << "no verdict";
      return Outcome::Undecided;
    }
    EXPECT_EQ(oracle::complaint_about_proof(history, *verdict), "");
    outcomes.push_back(verdict->outcome);
  }
  const bool same = outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2];
  EXPECT_TRUE(same);
  return same ? outcomes[0] : Outcome::Undecided;
}

struct Counts {
  std::size_t holds = 0, violated = 0;

  void add(Outcome outcome) { ++(outcome == Outcome::Holds ? holds : violated); }
};

TEST(HardFamilyTest, AllWaysAgreeOnStaleReads) {
  Counts counts;
  for (const Level level : {Level::SessionSerializable, Level::SessionSi, Level::Si, Level::Prefix,
                            Level::ParallelSi}) {
    for (std::size_t seed = 1; seed <= 80 / kSlowdown; ++seed) {
      const std::size_t keys = level == Level::SessionSerializable ? 40 + seed % 3 * 20
                               : level == Level::ParallelSi        ? 4 + seed % 4
                               : level == Level::Prefix            ? 3 + seed % 4
                                                                   : 8 + seed % 4 * 3;
      const std::string kind = seed % 4 == 0 ? "blind-60-" : "stale-60-";
      const std::string name = kind + std::to_string(keys) + "-" + std::to_string(seed);
      counts.add(agreed(*bench::hard_history(name), level));
      ASSERT_FALSE(HasFailure()) << name << " at " << info(level).name;
    }
  }
  EXPECT_GT(counts.holds, 50 / kSlowdown);
  EXPECT_GT(counts.violated, 50 / kSlowdown);
}

TEST(HardFamilyTest, Z3AgreesOnStaleReads) {
  for (const Level level : {Level::SessionSerializable, Level::SessionSi}) {
    for (std::size_t seed = 1; seed <= 20 / kSlowdown; ++seed) {
      const std::string name = "stale-16-" + std::to_string(level == Level::SessionSi ? 4 : 8) +
                               "-" + std::to_string(seed);
      const History history = *bench::hard_history(name);
      const bool allowed = oracle::z3_allows(history, level, oracle::Z3Encoding::Graph);
      ASSERT_EQ(agreed(history, level), allowed ? Outcome::Holds : Outcome::Violated) << name;
    }
  }
}

bool satisfiable(const bench::Formula& formula) {
  for (std::uint32_t values = 0; values < 1u << formula.variables; ++values) {
    bool all = true;
    for (const auto& clause : formula.clauses) {
      bool any = false;
      for (const std::uint32_t literal : clause) {
        any |= ((values >> (literal / 2) & 1) == 0) == (literal % 2 == 1);
      }
      all &= any;
    }
    if (all) return true;
  }
  return false;
}

TEST(HardFamilyTest, AFormulaIsSatisfiableIfItsHistoryIsSerializable) {
  Counts counts;
  for (std::uint32_t seed = 1; seed <= 60 / kSlowdown; ++seed) {
    const bench::Formula formula = seed % 2 == 0
                                       ? bench::random_3sat(6, 20 + seed % 5 * 4, seed)
                                       : bench::random_colouring(4, 4 + seed % 4 * 2, seed);
    const History history = bench::history_of(formula);
    const Outcome expected = satisfiable(formula) ? Outcome::Holds : Outcome::Violated;
    counts.add(expected);
    for (const Level level : {Level::SessionSerializable, Level::SessionSi}) {
      ASSERT_EQ(agreed(history, level), expected) << "seed " << seed;
    }
  }
  EXPECT_GT(counts.holds, 0u);
  EXPECT_GT(counts.violated, 0u);
}

// Members of the size that is measured (bench/frontier/compare), with what clingo says of them.
TEST(HardFamilyTest, LargerMembersAreDecided) {
  struct Member {
    const char* name;
    Level level;
    Outcome outcome;
  };
  constexpr Member kMembers[] = {
      {"blind-400-10-2", Level::SessionSi, Outcome::Holds},
      {"colour-80-1", Level::SessionSerializable, Outcome::Holds},
      {"colour-80-2", Level::SessionSerializable, Outcome::Violated},
      {"sat-150-1", Level::SessionSerializable, Outcome::Holds},
      {"stale-8000-17000-1", Level::SessionSerializable, Outcome::Violated},
      {"stale-1000-300-1", Level::SessionSi, Outcome::Holds},
      {"stale-1000-200-1", Level::Prefix, Outcome::Holds},
  };
  if (kSlowdown > 1) GTEST_SKIP() << "takes too long in this build";
  for (const auto& [name, level, outcome] : kMembers) {
    const History history = *bench::hard_history(name);
    const auto verdict = check(history, level);
    ASSERT_TRUE(verdict.ok());
    EXPECT_EQ(verdict->outcome, outcome) << name << " at " << info(level).name;
    EXPECT_EQ(oracle::complaint_about_proof(history, *verdict), "") << name;
  }
}

// Of the kind on which the solver on demand once lost its way: it put the literals of a clause that
// it watched in another order.
TEST(HardFamilyTest, ParallelSiIsDecidedOnTheFrontier) {
  for (const char* name : {"stale-80-14-1", "stale-100-17-2", "stale-100-20-3"}) {
    EXPECT_NE(agreed(*bench::hard_history(name), Level::ParallelSi), Outcome::Undecided) << name;
    if (kSlowdown > 1) break;
  }
}

TEST(HardFamilyTest, NamesThatSayNothingMakeNoHistory) {
  for (const char* name : {"", "stale", "stale-10-20", "stale-10-2-1", "stale-x-20-1", "sat-2-1",
                           "sat-10", "sat-10-1-1", "colour-1-1", "other-10-20-1", "sat--1"}) {
    EXPECT_FALSE(bench::hard_history(name).has_value()) << name;
  }
}

TEST(HardFamilyTest, EveryCaseHasAHistory) {
  for (const bench::HardCase& hard : bench::hard_cases()) {
    EXPECT_TRUE(bench::hard_history(hard.name).has_value()) << hard.name;
  }
}

}  // namespace
}  // namespace ouro
