// What transactions of several levels know of others, in the order of their numbers.

#include "check/mixed_knowledge.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/tiny.h"

namespace ouro {
namespace {

// A history whose last transaction has the level, all others are at read-committed.
struct LastKnows {
  LastKnows(std::string_view text, Level level, Level instead)
      : t(text), levels(t.history().txn_count(), Level::ReadCommitted) {
    levels.back() = level;
    mixture.levels = levels;
    mixture.levels.back() = instead;
    places.resize(levels.size());
    std::iota(places.begin(), places.end(), 0u);
  }
  LastKnows(std::string_view text, Level level) : LastKnows(text, level, level) {}

  std::string backward() {
    MixedKnowledge knowledge(t.observed(), mixture, levels, Budget());
    return Tiny::text(knowledge.backward(places));
  }
  // "T3 rw T2, T2 wr T3": what the last one missed; "" if nothing.
  std::string missed() {
    MixedKnowledge knowledge(t.observed(), mixture, levels, Budget());
    const auto found = knowledge.missed(places);
    if (!found) return "";
    return Tiny::text({&found->overwritten, 1}) + ", " + Tiny::text(found->known);
  }

  Tiny t;
  std::vector<Level> levels;
  Mixture mixture;
  MixedKnowledge::Positions places;
};

constexpr char kSeenLater[] = "T1: w x 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2";
constexpr char kSeenBefore[] = "T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, r x 1";

TEST(MixedKnowledgeTest, EachReaderIsJudgedByItsOwnLevel) {
  EXPECT_EQ(LastKnows(kSeenLater, Level::ReadCommitted).backward(), "");
  EXPECT_EQ(LastKnows(kSeenBefore, Level::ReadCommitted).backward(), "T2 forced T1");
  EXPECT_EQ(LastKnows(kSeenLater, Level::ReadAtomic).backward(), "T2 forced T1");
  EXPECT_EQ(LastKnows(kSeenLater, Level::Serializable).backward(), "")
      << "the search has its rules";
}

TEST(MixedKnowledgeTest, OnlyCausalKnowsOfWhatIsFurtherBack) {
  const char* const chain = "T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, w z 3\nT4: r z 3, r x 1";
  EXPECT_EQ(LastKnows(chain, Level::ReadAtomic).backward(), "");
  EXPECT_EQ(LastKnows(chain, Level::Causal).backward(), "T2 forced T1");
}

TEST(MixedKnowledgeTest, AnOrderThatIsRightHasNothingBackward) {
  LastKnows right(kSeenBefore, Level::Causal);
  right.places = {1, 0, 2};
  EXPECT_EQ(right.backward(), "");
}

// T3 overwrote T2's y; T4 saw T3 and reads x from before T2.
TEST(MixedKnowledgeTest, AtParallelSiOverwrittenVersionsAreKnown) {
  const char* const text = "T1: w x 1\nT2: w x 2, w y 2\nT3: w y 3\nT4: r y 3, r x 1";
  LastKnows known(text, Level::ParallelSi, Level::Causal);
  EXPECT_EQ(known.backward(), "");
  EXPECT_EQ(known.missed(), "") << "T3 may have lost T2's update";
  known.levels[2] = Level::ParallelSi;
  known.mixture.levels[2] = Level::Causal;
  EXPECT_EQ(known.missed(), "T4 rw T2, T2 ww T3, T3 wr T4");
  known.levels[3] = Level::Causal;
  EXPECT_EQ(known.missed(), "") << "its own level does not ask";
}

}  // namespace
}  // namespace ouro
