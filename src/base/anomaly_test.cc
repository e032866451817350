#include <gtest/gtest.h>

#include <set>

#include "ouro/check.h"

namespace ouro {
namespace {

TEST(AnomalyTest, EveryKindHasItsOwnNameAndAMeaning) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kAnomalyKindCount; ++i) {
    const AnomalyInfo& anomaly = info(static_cast<AnomalyKind>(i));
    EXPECT_EQ(static_cast<std::size_t>(anomaly.kind), i);
    EXPECT_TRUE(names.insert(anomaly.name).second) << anomaly.name;
    EXPECT_FALSE(anomaly.id.empty()) << anomaly.name;
    EXPECT_FALSE(anomaly.meaning.empty()) << anomaly.name;
  }
  EXPECT_EQ(info(AnomalyKind::AbortedRead).id, "G1a");
  EXPECT_EQ(info(AnomalyKind::CausalityViolation).name, "causality violation");
}

TEST(AnomalyTest, EveryKindSaysWhatShowsIt) {
  EXPECT_EQ(info(AnomalyKind::NonRepeatableRead).sign, AnomalySign::Operations);
  EXPECT_EQ(info(AnomalyKind::DependencyCycle).sign, AnomalySign::Cycle);
  EXPECT_EQ(info(AnomalyKind::ContradictoryOrder).sign, AnomalySign::Contradiction);
  EXPECT_EQ(info(AnomalyKind::SnapshotMismatch).sign, AnomalySign::Timestamps);
  EXPECT_EQ(info(AnomalyKind::VersionOrderMismatch).sign, AnomalySign::VersionOrders);
}

TEST(AnomalyTest, NamesAreThoseOfTheInterface) {
  EXPECT_EQ(name(Outcome::Holds), "holds");
  EXPECT_EQ(name(Outcome::Violated), "violated");
  EXPECT_EQ(name(Outcome::Undecided), "undecided");
  EXPECT_EQ(name(Evidence::Observed), "observed");
  EXPECT_EQ(name(Evidence::Timestamps), "timestamps");
  EXPECT_EQ(name(EdgeKind::Session), "so");
  EXPECT_EQ(name(EdgeKind::WriteRead), "wr");
  EXPECT_EQ(name(EdgeKind::ReadWrite), "rw");
  EXPECT_EQ(name(EdgeKind::Forced), "forced");
}

}  // namespace
}  // namespace ouro
