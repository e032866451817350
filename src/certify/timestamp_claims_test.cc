// Of all claims that can be made about a small history by timestamps, exactly the true ones are
// accepted.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/format_testing.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

Verdict claim(Level level, const Anomaly& anomaly) {
  Verdict verdict;
  verdict.level = level;
  verdict.evidence = Evidence::Timestamps;
  verdict.outcome = Outcome::Violated;
  verdict.anomalies = {anomaly};
  return verdict;
}

// Claims every kind of wrong read of every operation.
void expect_true_claims_about_reads(const History& history, Level level) {
  const TimestampOracle oracle(history, level);
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const TxnId txn = history.txn_of(OpId{i});
    const auto wrong = oracle.has(txn) ? oracle.wrong(txn, OpId{i}) : std::nullopt;
    for (const AnomalyKind kind : {AnomalyKind::Internal, AnomalyKind::NonRepeatableRead,
                                   AnomalyKind::SnapshotMismatch, AnomalyKind::ResultSetMismatch}) {
      const Anomaly anomaly{.kind = kind, .txns = {txn}, .ops = {OpId{i}}, .edges = {}};
      ASSERT_EQ(accepted(history, claim(level, anomaly)), wrong == kind)
          << info(kind).name << " of operation " << i + 1;
    }
  }
}

// Claims that every pair of writes is wrong.
void expect_true_claims_about_writes(const History& history, Level level) {
  const TimestampOracle oracle(history, level);
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    for (std::size_t j = 0; j < history.op_count(); ++j) {
      const Op a = history.op(OpId{i});
      const Op b = history.op(OpId{j});
      const TxnId first = history.txn_of(a.id);
      const TxnId second = history.txn_of(b.id);
      const bool both = is_write(a.kind) && is_write(b.kind) && a.key == b.key && first != second &&
                        oracle.has(first) && oracle.has(second);
      const bool overlap = both && is_snapshot_level(level) && !oracle.sees(first, second) &&
                           !oracle.sees(second, first);
      const bool tie = both && history.commit_ts(first) == history.commit_ts(second);
      Anomaly anomaly{.kind = AnomalyKind::WriteConflict,
                      .txns = {first, second},
                      .ops = {a.id, b.id},
                      .edges = {}};
      ASSERT_EQ(accepted(history, claim(level, anomaly)), overlap) << i + 1 << " and " << j + 1;
      anomaly.kind = AnomalyKind::DuplicateTimestamp;
      ASSERT_EQ(accepted(history, claim(level, anomaly)), tie) << i + 1 << " and " << j + 1;
    }
  }
}

TEST(TimestampClaimsTest, OfAllClaimsTheTrueOnesAreAccepted) {
  for (std::uint64_t seed = 1; seed <= 600 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    const Level level = kSnapshotAndSerialLevels[seed % kSnapshotAndSerialLevels.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + native(history));
    expect_true_claims_about_reads(history, level);
    expect_true_claims_about_writes(history, level);
    if (HasFatalFailure()) return;
  }
}

TEST(TimestampClaimsTest, InversionsMustBeThere) {
  const History history = history_of(
      "T1 @s [1,2] {5,6}: w x 1\nT2 @s [3,4] {1,2}: r y nil\nT3 @t [9,9] {7,8}: r x 1\n");
  const auto says = [&](Level level, AnomalyKind kind, std::size_t late, std::size_t early) {
    return accepted(
        history,
        claim(level, {.kind = kind, .txns = {TxnId{late}, TxnId{early}}, .ops = {}, .edges = {}}));
  };
  using enum AnomalyKind;
  EXPECT_TRUE(says(Level::SessionSi, SessionInversion, 1, 0));
  EXPECT_FALSE(says(Level::SessionSi, SessionInversion, 0, 1));
  EXPECT_FALSE(says(Level::SessionSi, SessionInversion, 2, 0));
  EXPECT_FALSE(says(Level::SessionSi, SessionInversion, 1, 1));
  EXPECT_FALSE(says(Level::Si, SessionInversion, 1, 0));
  EXPECT_FALSE(says(Level::Gsi, SessionInversion, 1, 0));
  EXPECT_TRUE(says(Level::Gsi, RealTimeInversion, 1, 0));
  EXPECT_TRUE(says(Level::StrictSerializable, RealTimeInversion, 1, 0));
  EXPECT_FALSE(says(Level::StrictSerializable, RealTimeInversion, 2, 0));
  EXPECT_FALSE(says(Level::SessionSerializable, RealTimeInversion, 1, 0));
  EXPECT_FALSE(says(Level::Si, MissingTimestamp, 0, 0));
  EXPECT_FALSE(says(Level::Si, ForbiddenCycle, 0, 0));
  EXPECT_FALSE(accepted(
      history,
      claim(Level::Causal,
            {.kind = SessionInversion, .txns = {TxnId{1}, TxnId{0}}, .ops = {}, .edges = {}})));
}

TEST(TimestampClaimsTest, MissingAndInvertedTimestampsMustBeThere) {
  const History history =
      history_of("T1 {,6}: w x 1\nT2 {9,7}: r x nil\nT3 aborted {3,}: w y 1\nT4 {5,}: r y nil\n");
  const auto says = [&](Level level, AnomalyKind kind, std::size_t txn) {
    return accepted(history,
                    claim(level, {.kind = kind, .txns = {TxnId{txn}}, .ops = {}, .edges = {}}));
  };
  using enum AnomalyKind;
  EXPECT_TRUE(says(Level::Si, MissingTimestamp, 0));
  EXPECT_FALSE(says(Level::Serializable, MissingTimestamp, 0));
  EXPECT_FALSE(says(Level::Si, MissingTimestamp, 2));
  EXPECT_FALSE(says(Level::Si, MissingTimestamp, 3));
  EXPECT_FALSE(says(Level::Si, InvertedTimestamps, 0));
  EXPECT_TRUE(says(Level::Si, InvertedTimestamps, 1));
  EXPECT_TRUE(says(Level::Serializable, InvertedTimestamps, 1));
  EXPECT_FALSE(says(Level::Serializable, InvertedTimestamps, 7));
}

}  // namespace
}  // namespace ouro::oracle
