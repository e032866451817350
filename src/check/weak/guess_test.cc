#include "check/weak/guess.h"

#include <gtest/gtest.h>

#include "base/level_rules.h"
#include "check/weak/read_set.h"
#include "check/weak/written_keys.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

std::string suspects_of(std::string_view text, Level level, std::vector<Node> order) {
  Tiny t(text);
  const Guess guess(t.observed(), std::move(order), rules(level).premise, Budget());
  if (!guess.respects_known()) return "no order";
  std::string out;
  for (const ItemId read : guess.suspects()) out += t.name(read) + ' ';
  return out;
}

TEST(GuessTest, AnOrderAgainstSessionsOrReadsIsNone) {
  EXPECT_EQ(suspects_of("T1 @a: w x 1\nT2 @a: w y 2", Level::Causal, {1, 0}), "no order");
  EXPECT_EQ(suspects_of("T1: w x 1\nT2: r x 1", Level::Causal, {1, 0}), "no order");
  EXPECT_EQ(suspects_of("T1: w x 1\nT2: r x 1", Level::Causal, {0, 1}), "");
}

// T3 reads x from T1, though it saw T2, which overwrote x.
constexpr std::string_view kFractured = "T1: w x 1\nT2: w x 2, w y 2\nT3: r x 1, r y 2";

TEST(GuessTest, AReadThatMissesWhatItsTransactionSawIsASuspect) {
  EXPECT_EQ(suspects_of(kFractured, Level::ReadAtomic, {0, 1, 2}), "T3.1 ");
  EXPECT_EQ(suspects_of(kFractured, Level::ReadAtomic, {1, 0, 2}), "") << "T1 wrote last";
}

TEST(GuessTest, AtReadCommittedOnlyEarlierReadsWereSeen) {
  EXPECT_EQ(suspects_of(kFractured, Level::ReadCommitted, {0, 1, 2}), "");
  EXPECT_EQ(
      suspects_of("T1: w x 1\nT2: w x 2, w y 2\nT3: r y 2, r x 1", Level::ReadCommitted, {0, 1, 2}),
      "T3.2 ");
}

TEST(GuessTest, VersionsFollowEachOtherInTheGuessedOrder) {
  Tiny t("T1: w x 1\nT2: w x 2");
  const Guess guess(t.observed(), {1, 0}, rules(Level::Causal).premise, Budget());
  EXPECT_EQ(t.name(guess.next(t.key("x"), {})), "T2.1");
  EXPECT_EQ(t.name(guess.next(t.key("x"), t.item(2, 1))), "T1.1");
  EXPECT_EQ(t.name(guess.next(t.key("x"), t.item(1, 1))), "-");
}

TEST(ReadSetTest, HasExternalReadsByKeyAndWriter) {
  Tiny t("T1: w x 1, w y 1\nT2: w z 5, r z 5, r x 1, r y 1, r x 1");
  ReadSet reads(t.observed());
  reads.fill(Tiny::txn(2));
  EXPECT_EQ(reads.reads().size(), 3u) << "not the one of its own write";
  ASSERT_EQ(reads.writers().size(), 1u);
  EXPECT_EQ(t.name(reads.writers()[0].saw), "T2.3");
  const ItemId first = reads.first_read(t.key("x"));
  EXPECT_EQ(t.name(first), "T2.3");
  EXPECT_EQ(t.name(reads.next(first)), "T2.5");
  EXPECT_FALSE(reads.first_read(t.key("z")).valid());
  reads.fill(Tiny::txn(1));
  EXPECT_FALSE(reads.first_read(t.key("x")).valid()) << "filled anew";
}

TEST(WrittenKeysTest, AreThoseOfTransactionsThatCount) {
  Tiny t("T1: w x 1, w y 1, w x 2, r z nil\nT2 aborted: w x 3");
  const WrittenKeys written(t.observed());
  EXPECT_EQ(written.of(Tiny::txn(1)).size(), 2u);
  EXPECT_TRUE(written.writes(Tiny::txn(1), t.key("y")));
  EXPECT_FALSE(written.writes(Tiny::txn(1), t.key("z")));
  EXPECT_FALSE(written.writes(Tiny::txn(2), t.key("x")));
}

}  // namespace
}  // namespace ouro
