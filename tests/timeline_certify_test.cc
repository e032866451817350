// Certificates of verdicts by timestamps: those of the engine are accepted, and of all claims one
// could make about a small history exactly the true ones are.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "format/format_testing.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/format.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/engine_levels.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

bool accepted(const History& history, const Verdict& verdict) {
  const auto checked = certify(history, make_certificate(history, verdict));
  return checked.ok() && checked->accepted;
}

Verdict timeline_verdict(const History& history, Level level) {
  CheckOptions options;
  options.evidence = Evidence::Timestamps;
  return *check(history, level, options);
}

// Why the certificate of the engine's verdict, written and read again, is not accepted; or "".
std::string complaint_about_timeline_proof(const History& history, Level level) {
  const std::string text =
      print_certificate(make_certificate(history, timeline_verdict(history, level)));
  const auto certificate = parse_certificate(text);
  if (!certificate.ok()) return certificate.error().to_string() + "\n" + text;
  const auto checked = certify(history, *certificate);
  if (!checked.ok()) return checked.error().to_string();
  if (!checked->accepted) return checked->reason + "\n" + text;
  return print_certificate(*certificate) == text ? "" : "prints differently";
}

TEST(TimelineCertifyTest, EveryVerdictOnRandomHistoriesIsAccepted) {
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    for (const Level level : kSnapshotAndSerialLevels) {
      ASSERT_EQ(complaint_about_timeline_proof(history, level), "")
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(history);
    }
  }
}

TEST(TimelineCertifyTest, VerdictsOnLargeHistoriesAreAccepted) {
  for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
    for (const double rate : {0.0, 0.01}) {
      GenerateOptions options;
      options.workload = workload;
      options.store = Level::SessionSi;
      options.txns = 30'000 / kSlowdown;
      options.timestamps = options.clocks = true;
      if (rate > 0) options.faults = {{Fault::LostUpdate, rate}, {Fault::Internal, rate}};
      const History history = *generate(options);
      for (const Level level : kSnapshotAndSerialLevels)
        EXPECT_EQ(complaint_about_timeline_proof(history, level), "");
    }
  }
}

// ---- claims ----

Verdict claim(Level level, const Anomaly& anomaly) {
  Verdict verdict;
  verdict.level = level;
  verdict.evidence = Evidence::Timestamps;
  verdict.outcome = Outcome::Violated;
  verdict.anomalies = {anomaly};
  return verdict;
}

// Every kind of wrong read, of every operation.
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

// Every pair of writes.
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

TEST(TimelineCertifyTest, OfAllClaimsTheTrueOnesAreAccepted) {
  for (std::uint64_t seed = 1; seed <= 600 / kSlowdown; ++seed) {
    const History history = random_timeline(seed, mixed_timeline(seed));
    const Level level = kSnapshotAndSerialLevels[seed % kSnapshotAndSerialLevels.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + native(history));
    expect_true_claims_about_reads(history, level);
    expect_true_claims_about_writes(history, level);
    if (HasFatalFailure()) return;
  }
}

TEST(TimelineCertifyTest, InversionsMustBeThere) {
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

TEST(TimelineCertifyTest, MissingAndInvertedTimestampsMustBeThere) {
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

// ---- orders ----

// The order in which the timestamps put everybody, whatever the reads say.
Verdict order_of(const History& history, Level level) {
  Verdict verdict;
  verdict.level = level;
  verdict.evidence = Evidence::Timestamps;
  verdict.outcome = Outcome::Holds;
  // Without reads the engine gives the order for the asking.
  HistoryBuilder builder;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    builder.begin_txn(builder.session(std::int64_t(t)));
    builder.status(history.status(txn));
    builder.timestamps(history.start_ts(txn).value_or(kNoTimestamp),
                       history.commit_ts(txn).value_or(kNoTimestamp));
    bool writes = false;
    for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) {
      writes |= is_write(history.op(op).kind);
    }
    if (writes) builder.write(builder.key(std::int64_t(t)), Value::small(1));
  }
  const Verdict bare = timeline_verdict(*std::move(builder).freeze(),
                                        is_snapshot_level(level) ? Level::Si : Level::Serializable);
  verdict.order = bare.order;
  verdict.schedule = bare.schedule;
  return verdict;
}

TEST(TimelineCertifyTest, TheOrderOfTheTimestampsIsAcceptedWhereItExplainsTheReads) {
  std::size_t rejected = 0;
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    shape.missing = shape.inverted = 0;
    const History history = random_timeline(seed, shape);
    for (const Level level : kSnapshotAndSerialLevels) {
      const bool right = TimestampOracle(history, level).counts().empty();
      const Verdict verdict = order_of(history, level);
      ASSERT_EQ(accepted(history, verdict), right)
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(history);
      rejected += right ? 0 : 1;
    }
  }
  EXPECT_GT(rejected, 10'000 / kSlowdown);
}

TEST(TimelineCertifyTest, AnotherOrderIsRejected) {
  const History history = history_of("T1 {1,2}: w x 1\nT2 {3,4}: w y 2\nT3 unknown {5,6}: w z 1\n");
  Verdict verdict = timeline_verdict(history, Level::Serializable);
  ASSERT_TRUE(accepted(history, verdict));
  std::swap(verdict.order[0], verdict.order[1]);
  EXPECT_FALSE(accepted(history, verdict));
  std::swap(verdict.order[0], verdict.order[1]);
  verdict.order.pop_back();
  EXPECT_FALSE(accepted(history, verdict));
  verdict.order.push_back(TxnId{1});
  EXPECT_FALSE(accepted(history, verdict));
  verdict = timeline_verdict(history, Level::Si);
  ASSERT_TRUE(accepted(history, verdict));
  std::swap(verdict.schedule[1], verdict.schedule[2]);
  EXPECT_FALSE(accepted(history, verdict));
}

TEST(TimelineCertifyTest, TimestampsArePartOfTheFingerprint) {
  EXPECT_NE(fingerprint(history_of("T1 {1,2}: w x 1")), fingerprint(history_of("T1 {1,3}: w x 1")));
  EXPECT_NE(fingerprint(history_of("T1 {1,}: w x 1")), fingerprint(history_of("T1 {,1}: w x 1")));
}

}  // namespace
}  // namespace ouro::oracle
