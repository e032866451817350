#include "ouro/level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <string>

#include "base/level_rules.h"

namespace ouro {
namespace {

// Levels cannot be compared by accident, only for equality.
template <class T>
concept Ordered = requires(T a, T b) {
  a < b;
}
|| requires(T a, T b) { a > b; }
|| requires(T a, T b) { a <= b; }
|| requires(T a, T b) { a >= b; }
|| requires(T a, T b) { a <=> b; };
static_assert(!Ordered<Level> && std::equality_comparable<Level>);

TEST(LevelTest, EveryNameAndAliasFindsItsLevel) {
  for (const LevelInfo& level : levels()) {
    EXPECT_EQ(find_level(level.name), level.level);
    if (!level.alias.empty()) {
      EXPECT_EQ(find_level(level.alias), level.level);
    }
    EXPECT_EQ(info(level.level).name, level.name);
  }
  EXPECT_EQ(find_level("PL-3"), Level::Serializable);
  EXPECT_EQ(find_level("PCSI"), Level::PrefixConsistentSi);
  EXPECT_EQ(find_level("SNAPSHOT_ISOLATION"), Level::Si);
  EXPECT_EQ(find_level("1SR"), Level::Serializable);
  EXPECT_EQ(find_level("strict-1SR"), Level::StrictSerializable);
  EXPECT_EQ(find_level("causal-cerone"), Level::Causal);
  EXPECT_EQ(find_level("strong-session-snapshot-isolation"), Level::SessionSi);
  EXPECT_EQ(find_level(""), std::nullopt);
}

TEST(LevelTest, MisspeltNamesAreGuessed) {
  EXPECT_EQ(closest_level("serialisable"), "serializable");
  EXPECT_EQ(closest_level("causl"), "causal");
  EXPECT_EQ(closest_level("eventual-whatever"), "");
}

TEST(LevelTest, TheLevelThatIsSearchedFirstImpliesTheOther) {
  EXPECT_FALSE(rules(Level::SessionSi).clocks());
  for (const LevelInfo& level : levels()) {
    const bool implied = implies(Level::SessionSi, level.level);
    EXPECT_EQ(searched_first(level.level), implied ? std::optional(Level::SessionSi) : std::nullopt)
        << level.name;
  }
}

TEST(LevelTest, OneLevelOfAFamilyImpliesAllOthersOfIt) {
  for (const LevelInfo& level : levels()) {
    const Level strongest = strongest_of_family(level.level);
    for (const LevelInfo& other : levels()) {
      if (!rules(other.level).is(rules(level.level).family)) continue;
      EXPECT_TRUE(implies(strongest, other.level)) << level.name << ", " << other.name;
    }
  }
  EXPECT_EQ(strongest_of_family(Level::Prefix), Level::StrongSi);
  EXPECT_EQ(strongest_of_family(Level::RepeatableRead), Level::StrictSerializable);
}

TEST(LevelTest, ImplicationsAreThoseOfTheDesign) {
  EXPECT_TRUE(implies(Level::StrictSerializable, Level::ReadCommitted));
  EXPECT_TRUE(implies(Level::SessionSi, Level::ParallelSi));
  EXPECT_TRUE(implies(Level::SessionSi, Level::Prefix));
  EXPECT_TRUE(implies(Level::StrongSi, Level::Gsi));
  EXPECT_TRUE(implies(Level::StrongSi, Level::PrefixConsistentSi));
  EXPECT_TRUE(implies(Level::PrefixConsistentSi, Level::Gsi));
  EXPECT_TRUE(implies(Level::PrefixConsistentSi, Level::SessionSi));
  EXPECT_FALSE(implies(Level::SessionSerializable, Level::PrefixConsistentSi));
  EXPECT_TRUE(implies(Level::Serializable, Level::Si));
  EXPECT_TRUE(implies(Level::Causal, Level::Causal));
  EXPECT_FALSE(implies(Level::Si, Level::Causal));  // si knows no sessions.
  EXPECT_FALSE(implies(Level::Serializable, Level::ReadAtomic));
  EXPECT_FALSE(implies(Level::Gsi, Level::SessionSi));
  EXPECT_FALSE(implies(Level::ReadCommitted, Level::ReadAtomic));
  EXPECT_FALSE(has_stronger(Level::StrictSerializable));
  EXPECT_TRUE(has_stronger(Level::RepeatableRead));
}

TEST(LevelTest, ListOrderHasTheWeakerFirst) {
  for (const LevelInfo& a : levels()) {
    for (const LevelInfo& b : levels()) {
      if (a.level == b.level || !implies(a.level, b.level)) continue;
      EXPECT_TRUE(InListOrder()(b.level, a.level)) << a.name << " implies " << b.name;
      EXPECT_FALSE(InListOrder()(a.level, b.level));
    }
  }
}

// .ouro files have these numbers.
TEST(LevelTest, NumbersNeverChange) {
  EXPECT_EQ(static_cast<int>(Level::ReadCommitted), 0);
  EXPECT_EQ(static_cast<int>(Level::Si), 5);
  EXPECT_EQ(static_cast<int>(Level::RepeatableRead), 10);
  EXPECT_EQ(static_cast<int>(Level::StrictSerializable), 13);
}

TEST(LevelTest, MixedIsNoLevelOfTheLattice) {
  EXPECT_EQ(find_level("mixed"), Level::Mixed);
  for (const LevelInfo& level : levels()) {
    EXPECT_NE(level.level, Level::Mixed);
    EXPECT_FALSE(implies(level.level, Level::Mixed) || implies(Level::Mixed, level.level));
  }
}

TEST(LevelRowTest, NoNameMeansTwoLevels) {
  std::set<std::string_view> names;
  for (const LevelInfo& level : levels()) {
    const LevelRow& row = row_of(level.level);
    EXPECT_EQ(row.info.name, level.name);
    EXPECT_TRUE(names.insert(level.name).second) << level.name;
    if (!level.alias.empty()) {
      EXPECT_TRUE(names.insert(level.alias).second) << level.alias;
    }
    for (const std::string_view other : row.other_names.span()) {
      EXPECT_TRUE(names.insert(other).second) << other;
      EXPECT_EQ(find_level(other), level.level);
    }
    EXPECT_TRUE(std::none_of(level.name.begin(), level.name.end(), ::isupper));
  }
}

// A level that implies another asks for everything that the other asks for.
TEST(LevelRowTest, StrongerLevelsAskForMore) {
  for (const LevelInfo& stronger : levels()) {
    for (const LevelInfo& weaker : levels()) {
      if (!implies(stronger.level, weaker.level)) continue;
      SCOPED_TRACE(std::string(stronger.name) + " implies " + std::string(weaker.name));
      const LevelRules& more = rules(stronger.level);
      const LevelRules& less = rules(weaker.level);
      EXPECT_TRUE(more.sessions || !less.sessions);
      EXPECT_TRUE(more.clocks() || !less.clocks());
      EXPECT_TRUE(less.real_time != RealTimeRule::SeesIt || more.real_time == RealTimeRule::SeesIt);
      EXPECT_TRUE(less.lost_updates || !more.lost_updates);
      EXPECT_TRUE(less.phantoms || !more.phantoms);
      EXPECT_TRUE(less.rereads_differ || !more.rereads_differ);
    }
  }
}

TEST(LevelRowTest, FamiliesHaveWhatTheirEnginesAskFor) {
  for (const LevelInfo& level : levels()) {
    const LevelRules& row = rules(level.level);
    EXPECT_EQ(row.is(LevelFamily::CommitOrder), row.premise != Premise::None) << level.name;
    EXPECT_TRUE(!row.by_timestamps || row.begins_apart() || row.is(LevelFamily::Serial));
    EXPECT_TRUE(!row.time_to_commit() || row.begins_apart()) << "else there is one moment only";
  }
}

TEST(LevelRowTest, TheDrawingHasEachLevelAboveThoseItImplies) {
  std::set<std::pair<int, int>> places;
  for (const LevelInfo& level : levels()) {
    const LevelPlace& place = row_of(level.level).drawn;
    EXPECT_TRUE(places.emplace(place.x, place.row).second) << level.name;
    EXPECT_TRUE(place.x > 0 && place.x < 720) << level.name;
    for (const Level below : directly_below(level.level)) {
      EXPECT_GT(row_of(below).drawn.row, place.row) << level.name;
    }
  }
}

}  // namespace
}  // namespace ouro
