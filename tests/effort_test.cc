// What a check says that it took.
#include "ouro/effort.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "ouro/check.h"
#include "ouro/examine.h"
#include "ouro/generate.h"
#include "ouro/report.h"

namespace ouro {
namespace {

History blind(std::uint64_t txns, bool timestamps = false) {
  GenerateOptions options;
  options.workload = WorkloadKind::BlindWRw;
  options.txns = txns;
  options.keys = 50;
  options.timestamps = timestamps;
  return *generate(options);
}

double sum(const Effort& effort) {
  return std::accumulate(effort.seconds.begin(), effort.seconds.end(), 0.0);
}

TEST(EffortTest, StagesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kStageCount; ++i) names.insert(name(static_cast<Stage>(i)));
  EXPECT_EQ(names.size(), kStageCount);
  EXPECT_EQ(name(Stage::Certify), "certify");
}

TEST(EffortTest, EveryEngineTellsItsStages) {
  const History history = blind(500, true);
  const auto stages_of = [&](Level level, Evidence evidence) {
    Effort effort;
    EXPECT_TRUE(check(history, level, {.evidence = evidence, .effort = &effort}).ok());
    std::set<std::string_view> stages;
    for (std::size_t i = 0; i < kStageCount; ++i) {
      if (effort.seconds[i] > 0) stages.insert(name(static_cast<Stage>(i)));
    }
    return stages;
  };
  using Names = std::set<std::string_view>;
  EXPECT_EQ(stages_of(Level::SessionSi, Evidence::Observed),
            (Names{"join", "encode", "order", "search", "prove"}));
  EXPECT_EQ(stages_of(Level::Causal, Evidence::Observed), (Names{"join", "force"}));
  EXPECT_EQ(stages_of(Level::SessionSi, Evidence::Timestamps), (Names{"sort", "replay", "prove"}));
}

TEST(EffortTest, StagesAreNoMoreThanTheWhole) {
  const History history = blind(2000);
  const auto examined = examine(history, {.levels = {Level::SessionSi}});
  ASSERT_TRUE(examined.ok());
  const double others = examined->effort.seconds_of(Stage::Others);
  EXPECT_LE(sum(examined->effort) - others, examined->check_seconds);
}

TEST(EffortTest, CountsAreTheSameWithAnyNumberOfThreads) {
  const History history = blind(3000);
  for (const Level level : {Level::SessionSi, Level::Serializable, Level::ParallelSi}) {
    Effort one;
    Effort many;
    ASSERT_TRUE(check(history, level, {.threads = 1, .effort = &one}).ok());
    ASSERT_TRUE(check(history, level, {.threads = 4, .effort = &many}).ok());
    EXPECT_GT(one.search.searches, 0U);
    EXPECT_GT(one.search.pairs, one.search.chains);
    EXPECT_EQ(one.search.choices, many.search.choices);
    EXPECT_EQ(one.search.decisions, many.search.decisions);
    EXPECT_EQ(one.search.conflicts, many.search.conflicts);
    EXPECT_EQ(one.search.arcs, many.search.arcs);
  }
}

TEST(EffortTest, WithoutOnDemandAllPairsAreChoices) {
  const History history = blind(300);
  Effort effort;
  CheckOptions options{.effort = &effort};
  options.search.on_demand = false;
  ASSERT_TRUE(check(history, Level::SessionSi, options).ok());
  EXPECT_EQ(effort.search.choices, effort.search.pairs);
  EXPECT_GT(effort.search.choices, 1000U);
}

TEST(EffortTest, SeveralChecksAddUp) {
  const History history = blind(200);
  Effort effort;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(check(history, Level::SessionSi, {.effort = &effort}).ok());
  }
  EXPECT_EQ(effort.search.searches, 3U);
}

TEST(EffortTest, JsonHasStagesAndWhatTheSearchDid) {
  const History history = blind(100);
  const auto examined = examine(history, {.levels = {Level::SessionSi}});
  const std::string json = to_json(history, *examined);
  for (const char* part : {"\"stages\":{\"join\":", "\"encode\":", "\"search\":{\"searches\":1,",
                           "\"pairs\":", "\"conflicts\":"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  const auto weak = examine(history, {.levels = {Level::Causal}, .other_levels = false});
  EXPECT_EQ(to_json(history, *weak).find("\"searches\""), std::string::npos);
}

}  // namespace
}  // namespace ouro
