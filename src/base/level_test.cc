#include "ouro/level.h"

#include <gtest/gtest.h>

namespace ouro {
namespace {

TEST(LevelTest, EveryNameAndAliasFindsItsLevel) {
  for (const LevelInfo& level : levels()) {
    EXPECT_EQ(find_level(level.name), level.level);
    if (!level.alias.empty()) {
      EXPECT_EQ(find_level(level.alias), level.level);
    }
    EXPECT_EQ(&info(level.level), &level);
  }
  EXPECT_EQ(find_level("PL-3"), Level::Serializable);
  EXPECT_EQ(find_level("SNAPSHOT_ISOLATION"), Level::Si);
  EXPECT_EQ(find_level(""), std::nullopt);
}

TEST(LevelTest, MisspeltNamesAreGuessed) {
  EXPECT_EQ(closest_level("serialisable"), "serializable");
  EXPECT_EQ(closest_level("causl"), "causal");
  EXPECT_EQ(closest_level("eventual-whatever"), "");
}

TEST(LevelTest, ImplicationsAreThoseOfTheDesign) {
  EXPECT_TRUE(implies(Level::StrictSerializable, Level::ReadCommitted));
  EXPECT_TRUE(implies(Level::SessionSi, Level::ParallelSi));
  EXPECT_TRUE(implies(Level::SessionSi, Level::Prefix));
  EXPECT_TRUE(implies(Level::StrongSi, Level::Gsi));
  EXPECT_TRUE(implies(Level::Serializable, Level::Si));
  EXPECT_TRUE(implies(Level::Causal, Level::Causal));
  EXPECT_FALSE(implies(Level::Si, Level::Causal));  // si knows no sessions.
  EXPECT_FALSE(implies(Level::Serializable, Level::ReadAtomic));
  EXPECT_FALSE(implies(Level::Gsi, Level::SessionSi));
  EXPECT_FALSE(implies(Level::ReadCommitted, Level::ReadAtomic));
}

}  // namespace
}  // namespace ouro
