// What is wrong in plain sight is found, and claims of anything else are rejected.

#include "certify/flaws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

using ::testing::HasSubstr;

class PlainSight {
 public:
  explicit PlainSight(std::string_view history)
      : history_(oracle::history_of(history)), reading_(Reading::of(history_)) {}

  [[nodiscard]] std::string first(Level level) const {
    return Flaws(*reading_, predicates_).first_forbidden(level);
  }
  [[nodiscard]] bool believes(AnomalyKind kind, std::vector<std::size_t> ops) const {
    Anomaly anomaly{.kind = kind, .txns = {}, .ops = {}, .edges = {}};
    for (const std::size_t op : ops) anomaly.ops.emplace_back(op);
    return Flaws(*reading_, predicates_).complaint(anomaly, Level::Serializable).empty();
  }

 private:
  const History history_;
  const Result<Reading> reading_;
  const PredicateReads predicates_{*reading_, PredicateReads::Seeing::Start};
};

TEST(FlawsTest, AReadOfWhatAnAbortedTransactionWrote) {
  const PlainSight seen("T1 aborted: w x 1\nT2: r x 1\nT3: w y 2\nT4: r y 2\n");
  EXPECT_THAT(seen.first(Level::ReadCommitted), HasSubstr("aborted read"));
  EXPECT_TRUE(seen.believes(AnomalyKind::AbortedRead, {1, 0}));
  EXPECT_FALSE(seen.believes(AnomalyKind::AbortedRead, {3, 2}));
  EXPECT_FALSE(seen.believes(AnomalyKind::ThinAirRead, {1}));
  EXPECT_FALSE(seen.believes(AnomalyKind::AbortedRead, {99, 0}));
  EXPECT_FALSE(seen.believes(AnomalyKind::AbortedRead, {}));
}

TEST(FlawsTest, AReadOfWhatNobodyWroteOrOfWhatWasOverwrittenAtOnce) {
  const PlainSight seen("T1: w x 1, w x 2\nT2: r x 1\nT3: r x 9\n");
  EXPECT_TRUE(seen.believes(AnomalyKind::IntermediateRead, {2, 0}));
  EXPECT_TRUE(seen.believes(AnomalyKind::ThinAirRead, {3}));
  EXPECT_FALSE(seen.believes(AnomalyKind::IntermediateRead, {3, 0}));
  EXPECT_FALSE(seen.believes(AnomalyKind::ThinAirRead, {2}));
  EXPECT_NE(seen.first(Level::ReadCommitted), "");
}

TEST(FlawsTest, AReadThatContradictsItsOwnTransaction) {
  const PlainSight seen("T1: w x 1, r x nil\nT2: w y 5\n");
  EXPECT_TRUE(seen.believes(AnomalyKind::Internal, {1, 0}));
  EXPECT_THAT(seen.first(Level::Serializable), HasSubstr("internal"));
}

TEST(FlawsTest, TwoReadsOfOneTransactionMayDifferAtReadCommittedOnly) {
  const PlainSight seen("T1: w x 1\nT2: r x nil, r x 1\n");
  EXPECT_EQ(seen.first(Level::ReadCommitted), "");
  EXPECT_THAT(seen.first(Level::ReadAtomic), HasSubstr("non-repeatable"));
  EXPECT_TRUE(seen.believes(AnomalyKind::NonRepeatableRead, {2, 1}));
}

TEST(FlawsTest, NothingIsWrongWithAGoodHistory) {
  const PlainSight seen("T1: w x 1\nT2: r x 1, w x 2, r x 2\n");
  for (const LevelInfo& level : levels()) EXPECT_EQ(seen.first(level.level), "") << level.name;
}

}  // namespace
}  // namespace ouro::recheck
