// The order of the timestamps is accepted where it explains the reads, and no other.

#include <gtest/gtest.h>

#include <utility>

#include "format/format_testing.h"
#include "ouro/certificate.h"
#include "ouro/check.h"
#include "ouro/history_builder.h"
#include "tests/case_file.h"
#include "tests/certifying.h"
#include "tests/random_timeline.h"
#include "tests/small_histories.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

// A verdict that holds, with the order of the timestamps, whatever the reads say.
Verdict ordered_by_timestamps(const History& history, Level level) {
  Verdict verdict;
  verdict.level = level;
  verdict.evidence = Evidence::Timestamps;
  verdict.outcome = Outcome::Holds;
  // The engine finds the order in a history without reads.
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

TEST(TimestampOrderTest, TheOrderOfTheTimestampsIsAcceptedWhereItExplainsTheReads) {
  std::size_t rejected = 0;
  for (std::uint64_t seed = 1; seed <= 10'000 / kSlowdown; ++seed) {
    TimelineShape shape = mixed_timeline(seed);
    shape.missing = shape.inverted = 0;
    const History history = random_timeline(seed, shape);
    for (const Level level : kSnapshotAndSerialLevels) {
      const bool right = TimestampOracle(history, level).counts().empty();
      const Verdict verdict = ordered_by_timestamps(history, level);
      ASSERT_EQ(accepted(history, verdict), right)
          << "seed " << seed << " at " << info(level).name << "\n"
          << native(history);
      rejected += right ? 0 : 1;
    }
  }
  EXPECT_GT(rejected, 10'000 / kSlowdown);
}

TEST(TimestampOrderTest, AnotherOrderIsRejected) {
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

// Increments and adds write rows, which the reads of counters and sets find.
TEST(TimestampOrderTest, CountersAndSetsAreRows) {
  const auto counted = [](const std::string& count, const std::string& set) {
    return history_of(
        R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["inc","c",2],["add","s",5]]})"
        "\n"
        R"({"session":"b","start_ts":3,"commit_ts":4,"ops":[["inc","c",1],["r","c",)" +
        count + R"(],["r","s",{"set":)" + set + "}]]}\n");
  };
  for (const Level level : {Level::Si, Level::Serializable}) {
    const History right = counted("3", "[5]");
    const Verdict verdict = timeline_verdict(right, level);
    EXPECT_EQ(verdict.outcome, Outcome::Holds);
    EXPECT_EQ(complaint_about_proof(right, verdict), "");
    for (const History& wrong : {counted("1", "[5]"), counted("3", "[]")}) {
      EXPECT_FALSE(accepted(wrong, ordered_by_timestamps(wrong, level)));
      EXPECT_EQ(complaint_about_proof(wrong, timeline_verdict(wrong, level)), "");
    }
  }
}

}  // namespace
}  // namespace ouro::oracle
