// The settings of the search: how they are written, and that none of them changes an outcome.

#include "ouro/search_options.h"

#include <gmock/gmock.h>

#include <string>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/engine_levels.h"
#include "tests/oracle.h"
#include "tests/small_histories.h"
#include "tests/this_build.h"
#include "tests/verdict_checks.h"

namespace ouro::oracle {
namespace {

using testing::HasSubstr;

TEST(SearchOptionsTest, SettingsAreReadByTheirNames) {
  const auto none = parse_search_options("");
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->chains && none->on_demand && none->saturation && none->full && none->guess &&
              none->turns);
  const auto some = parse_search_options(
      "no-chains,no-full,no-guess,no-turns,many=7,first-turn=9,phase=saved,branching=activity,"
      "sources=choices");
  ASSERT_TRUE(some.ok()) << some.error().what;
  EXPECT_FALSE(some->chains || some->full || some->guess || some->turns);
  EXPECT_TRUE(some->on_demand && some->saturation);
  EXPECT_EQ(some->many, 7u);
  EXPECT_EQ(some->first_turn, 9u);
  EXPECT_EQ(some->phase, SearchOptions::Phase::Saved);
  EXPECT_EQ(some->branching, SearchOptions::Branching::Activity);
  EXPECT_EQ(some->sources, SearchOptions::Sources::Choices);
  EXPECT_TRUE(parse_search_options("no-chains,chains")->chains) << "the last one counts";
}

TEST(SearchOptionsTest, WhatIsNoSettingIsRefusedWithAdvice) {
  const auto what = [](std::string_view settings) {
    const auto parsed = parse_search_options(settings);
    return parsed.ok() ? std::string() : parsed.error().what;
  };
  EXPECT_THAT(what("no-chain"), HasSubstr("did you mean 'no-chains'?"));
  EXPECT_THAT(what("no-full,phase=saves"), HasSubstr("did you mean 'phase=saved'?"));
  EXPECT_THAT(what("xyzzy"), HasSubstr("there are no-chains, no-on-demand"));
  for (const char* bad : {"many=", "many=x", "many=-1", "many=7x", "many", "phase=", "phase",
                          "=saved", ",no-full", "no-chains,,no-full", "no-", "no-many=1"}) {
    EXPECT_THAT(what(bad), HasSubstr("unknown search setting")) << bad;
  }
}

const char* const kWays[] = {"no-chains",
                             "no-on-demand",
                             "no-saturation",
                             "no-full",
                             "no-guess",
                             "no-turns",
                             "many=0",
                             "many=0,no-full",
                             "many=0,no-saturation",
                             "first-turn=1",
                             "phase=saved",
                             "phase=fixed",
                             "branching=activity",
                             "sources=cases",
                             "sources=choices",
                             "no-chains,no-on-demand,no-saturation,no-full,no-guess,no-turns"};

// Each level is asked alone, so that no other one answers for it.
void expect_the_oracles_outcomes(const History& history, const std::string& way,
                                 std::uint64_t seed) {
  CheckOptions options;
  options.search = *parse_search_options(way);
  const LevelSet allowed = allowed_levels(history);
  for (const Level level : kDecidableLevels) {
    const auto verdict = check(history, level, options);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    const std::string where =
        way + ", " + std::string(info(level).name) + ", seed " + std::to_string(seed) + "\n";
    ASSERT_EQ(complaint(history, allowed, *verdict), "") << where << to_string(history);
    ASSERT_EQ(complaint_about_proof(history, *verdict), "") << where << to_string(history);
  }
}

TEST(SearchOptionsTest, NoSettingChangesAnOutcomeOrSpoilsItsProof) {
  for (const std::string way : kWays) {
    for (std::uint64_t seed = 1; seed <= 250 / kSlowdown; ++seed) {
      expect_the_oracles_outcomes(random_history(seed, mixed_shape(seed)), way, seed);
      expect_the_oracles_outcomes(random_history(seed, repeating_shape(seed)), way, seed);
    }
  }
}

// Histories of hundreds of transactions, which no oracle can decide: the outcome is that without
// settings, or undecided.
TEST(SearchOptionsTest, AtMostASettingLeavesALevelUndecided) {
  GenerateOptions planned;
  planned.txns = 300 / kSlowdown;
  planned.keys = 30;
  planned.workload = WorkloadKind::BlindWRw;
  for (const Fault fault : {Fault::GSib, Fault::LongFork, Fault::WriteSkew}) {
    planned.faults = {{.fault = fault, .rate = 0.005}};
    for (planned.seed = 1; planned.seed <= 3; ++planned.seed) {
      const History history = *generate(planned);
      for (const Level level : {Level::Si, Level::SessionSi, Level::ParallelSi, Level::Prefix,
                                Level::Serializable, Level::SessionSerializable}) {
        const Outcome expected = check(history, level)->outcome;
        for (const char* way : kWays) {
          CheckOptions options;
          options.search = *parse_search_options(way);
          options.work_limit = 30'000'000;
          const Outcome outcome = check(history, level, options)->outcome;
          ASSERT_TRUE(outcome == expected || outcome == Outcome::Undecided)
              << way << ", " << info(level).name << ", seed " << planned.seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
