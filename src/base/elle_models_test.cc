#include "base/elle_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/level_rules.h"

namespace ouro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ElleModelsTest, EveryModelOfALevelIsKnownByTheNameThatIsPrinted) {
  for (const LevelInfo& level : levels()) {
    const std::string_view model = row_of(level.level).elle;
    if (model.empty()) continue;
    EXPECT_EQ(find_elle_model(model), model) << level.name;
  }
  EXPECT_EQ(find_elle_model("PL-2"), "read-committed");
  EXPECT_EQ(find_elle_model("strict-serializable"), "strong-serializable");
  EXPECT_EQ(find_elle_model("generalized-snapshot-isolation"), "");
}

TEST(ElleModelsTest, LevelsThatImplyAModelAreNamedWeakestFirst) {
  EXPECT_THAT(weakest_implying("parallel-snapshot-isolation"), ElementsAre(Level::ParallelSi));
  EXPECT_THAT(weakest_implying("cursor-stability"), ElementsAre(Level::Si, Level::RepeatableRead));
  EXPECT_THAT(weakest_implying("strong-session-read-committed"), ElementsAre(Level::SessionSi));
  EXPECT_THAT(weakest_implying("linearizable"), ElementsAre(Level::StrictSerializable));
}

TEST(ElleModelsTest, ModelsWithoutALevelSayWhichIsStronger) {
  EXPECT_EQ(unknown_level("PL-2+"),
            "'PL-2+' is a model of Elle's that Ouro does not decide; the next stronger that it "
            "does: 'si'");
  EXPECT_THAT(unknown_level("monotonic_atomic_view"),
              HasSubstr("'read-atomic', 'repeatable-read'"));
  EXPECT_EQ(unknown_level("serialisable"),
            "unknown level 'serialisable'; did you mean 'serializable'?");
}

// As Elle's results of the same anomalies have it.
TEST(ElleModelsTest, AnomaliesRuleOutModels) {
  const ElleBoundary item = boundary({.anomalies = {"G-single-item"}, .models = {}});
  EXPECT_THAT(item.weakest, ElementsAre("consistent-view", "repeatable-read"));
  EXPECT_THAT(item.stronger,
              ElementsAre("forward-consistent-view", "serializable", "snapshot-isolation",
                          "strong-serializable", "strong-session-serializable",
                          "strong-session-snapshot-isolation", "strong-snapshot-isolation",
                          "update-serializable"));
  const ElleBoundary lost = boundary({.anomalies = {"G2-item", "lost-update"}, .models = {}});
  EXPECT_THAT(lost.weakest, ElementsAre("cursor-stability", "update-atomic"));
  EXPECT_EQ(lost.stronger.size(), 11U);
  const ElleBoundary aborted = boundary({.anomalies = {"G1a"}, .models = {}});
  EXPECT_THAT(aborted.weakest, ElementsAre("read-committed"));
  EXPECT_EQ(aborted.stronger.size(), 21U);
  const ElleBoundary twice = boundary({.anomalies = {"duplicate-elements"}, .models = {}});
  EXPECT_THAT(twice.weakest, ElementsAre("read-uncommitted"));
  EXPECT_EQ(twice.stronger.size(), 24U);
  const ElleBoundary stale = boundary({.anomalies = {"G-single-item-process"}, .models = {}});
  EXPECT_THAT(stale.weakest, ElementsAre("strong-session-snapshot-isolation"));
  const ElleBoundary late = boundary({.anomalies = {"G2-item-realtime"}, .models = {}});
  EXPECT_THAT(late.weakest, ElementsAre("strong-serializable"));
  EXPECT_THAT(late.stronger, IsEmpty());
}

TEST(ElleModelsTest, WhatIsStrongerThanAModelThatIsViolatedIsRuledOut) {
  const ElleBoundary found = boundary({.anomalies = {}, .models = {"serializable"}});
  EXPECT_THAT(found.weakest, ElementsAre("serializable"));
  EXPECT_THAT(found.stronger, ElementsAre("strong-serializable", "strong-session-serializable"));
}

}  // namespace
}  // namespace ouro
