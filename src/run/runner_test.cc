#include "run/runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ouro/check.h"
#include "ouro/format.h"
#include "run/annotate.h"
#include "run/faulty_database.h"
#include "tests/files.h"
#include "workload/random.h"

namespace ouro::running {
namespace {

using db::Reply;
using testing::HasSubstr;

RunOptions small_run(std::uint64_t seed) {
  RunOptions options;
  options.workload.seed = seed;
  options.workload.sessions = 4;
  options.workload.keys = 5;
  options.workload.ops_per_txn = 4;
  options.workload.abort_share = 0.1;
  options.seconds = 0;
  options.txns = 1500;
  return options;
}

// Runs the clients on `database`; returns the history that they recorded.
History record(const RunOptions& options, FaultyDatabase& database, std::vector<OpenLine>& open) {
  const std::string path = temporary("runner");
  {
    auto file = *HistoryFile::create(path, options.workload.sessions + 2);
    Runner runner(options, database, *file);
    const Status loaded = runner.load();
    EXPECT_TRUE(loaded.ok());
    const Status status = runner.run();
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    open = runner.open_lines();
    EXPECT_TRUE(file->close().ok());
  }
  const auto changes = annotations(open, {}, database);
  EXPECT_TRUE(annotate(path, changes, {}, db::Model::Registers).ok());
  auto history = read_history(path);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  std::filesystem::remove(path);
  return *std::move(history);
}

std::uint64_t count(const History& history, TxnStatus status) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    found += history.status(TxnId{i}) == status ? 1 : 0;
  }
  return found;
}

// The database is strictly serializable, so its history must be, whatever calls fail.
TEST(RunnerTest, ARightDatabaseThatFailsEverywhereHasARightHistory) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    workload::Random random(seed, 99);
    FaultyDatabase database([&](Call) -> std::optional<Reply> {
      switch (random.below(60)) {
        case 0:
          return Reply::Aborted;
        case 1:
          return Reply::Failed;
        case 2:
          return Reply::Lost;
        default:
          return std::nullopt;
      }
    });
    database.resolves = seed % 2 == 0;
    const RunOptions options = small_run(seed);
    std::vector<OpenLine> open;
    const History history = record(options, database, open);

    const auto verdict = check(history, Level::StrictSerializable);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, Outcome::Holds) << describe(history, *verdict);
    EXPECT_GT(count(history, TxnStatus::Aborted), 100u);
    if (database.resolves) {
      EXPECT_EQ(count(history, TxnStatus::Unknown), 0u);
      EXPECT_EQ(count(history, TxnStatus::Committed), database.took_effect.size());
    } else {
      EXPECT_GT(count(history, TxnStatus::Unknown), 10u);
      EXPECT_EQ(count(history, TxnStatus::Committed), database.commits_answered_ok);
    }
    for (std::size_t i = 0; i < history.txn_count(); ++i) {
      const TxnId txn{i};
      for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
        const Op op = history.op(id);
        if (op.kind != OpKind::Write || history.status(txn) != TxnStatus::Aborted) continue;
        EXPECT_FALSE(database.kept.contains(op.value.number())) << "an aborted write was kept";
      }
    }
  }
}

// Nothing but the number of transactions would end such a run.
TEST(RunnerTest, ADatabaseThatFallsSilentForGoodEndsTheRun) {
  FaultyDatabase database([n = 0](Call call) mutable -> std::optional<Reply> {
    return call == Call::Begin && ++n > 20 ? std::optional(Reply::Lost) : std::nullopt;
  });
  RunOptions options = small_run(1);
  options.txns = std::uint64_t{1} << 60;
  options.patience = std::chrono::milliseconds(50);
  auto file = *HistoryFile::create(temporary("silent"), options.workload.sessions + 2);
  Runner runner(options, database, *file);
  const Status status = runner.run();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().what, HasSubstr("told to"));
}

// If a commit is not answered, the next transaction of the client belongs to another session.
TEST(RunnerTest, AnUnknownOutcomeEndsTheSession) {
  FaultyDatabase database([n = 0](Call call) mutable -> std::optional<Reply> {
    return call == Call::Commit && ++n % 7 == 0 ? std::optional(Reply::Lost) : std::nullopt;
  });
  std::vector<OpenLine> open;
  const History history = record(small_run(3), database, open);
  std::size_t unknown = 0;
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const auto txns = history.session_txns(SessionId{s});
    for (std::size_t i = 0; i < txns.size(); ++i) {
      if (history.status(txns[i]) != TxnStatus::Unknown) continue;
      ++unknown;
      EXPECT_EQ(i + 1, txns.size());
      EXPECT_FALSE(history.completed(txns[i]).has_value());
    }
  }
  EXPECT_GT(unknown, 50u);
}

TEST(RunnerTest, ADatabaseThatAlwaysFailsEndsTheRunWithItsReason) {
  FaultyDatabase database(
      [](Call call) { return call == Call::Write ? std::optional(Reply::Failed) : std::nullopt; });
  RunOptions options = small_run(1);
  options.workload.read_share = 0;
  const std::string path = temporary("runner-fails");
  auto file = *HistoryFile::create(path, options.workload.sessions + 2);
  Runner runner(options, database, *file);
  const Status status = runner.run();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().what, HasSubstr("transactions keep failing: told to"));
  EXPECT_EQ(runner.progress().committed, 0u);
  std::filesystem::remove(path);
}

TEST(RunnerTest, RetriesAreTransactionsOfTheirOwnWithNewValues) {
  FaultyDatabase database([n = 0](Call call) mutable -> std::optional<Reply> {
    return call == Call::Commit && ++n % 3 == 0 ? std::optional(Reply::Aborted) : std::nullopt;
  });
  RunOptions options = small_run(5);
  options.workload.abort_share = 0;
  std::vector<OpenLine> open;
  const History history = record(options, database, open);
  EXPECT_EQ(history.txn_count(), options.txns);
  EXPECT_GE(count(history, TxnStatus::Aborted), options.txns / 4);
  std::set<std::int64_t> written;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind != OpKind::Write) continue;
    EXPECT_TRUE(written.insert(op.value.number()).second) << "written twice";
  }
}

TEST(AnnotateTest, TimesResolutionsAndVersionSetsComeIntoTheirLines) {
  const std::string path = temporary("annotate");
  std::vector<OpenLine> open;
  {
    auto file = *HistoryFile::create(path, 1);
    Transcript transcript;
    std::string line;
    file->add(0, "{\"ouro\":1}\n");
    transcript.write_row(1, {7, 8, 9});
    transcript.format({.session = 1}, line);
    open.push_back({file->add(0, line), 10, false, {}});
    transcript.clear();
    transcript.select({{.column = 1, .lower = 0, .upper = 9}}, {});
    transcript.aggregate(AggregateKind::Max, 2, {}, 9);
    transcript.format({.session = 2, .status = TxnStatus::Unknown}, line);
    const std::uint64_t number = file->add(0, line);
    open.push_back({number, 20, true, transcript.predicate_ends(line)});
  }
  db::Recovered recovered;
  recovered.times = {{.token = 20, .start = {5, 0}, .commit = {6, 1}},
                     {.token = 10, .start = {1, 0}, .commit = {2, 0}},
                     {.token = 99, .start = {1, 0}, .commit = {2, 0}}};
  recovered.version_sets = {{.token = 20, .read = 1, .versions = {{1, {7, 8, 9}}}},
                            {.token = 20, .read = 0, .versions = {}}};
  FaultyDatabase database([](Call) { return std::nullopt; });
  database.resolves = true;
  database.took_effect = {20};
  ASSERT_TRUE(annotate(path, annotations(open, recovered, database), {}, db::Model::Rows).ok());
  const auto history = read_history(path);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  ASSERT_EQ(history->txn_count(), 2u);
  EXPECT_EQ(history->start_ts(TxnId{0}), (Timestamp{1, 0}));
  EXPECT_EQ(history->commit_ts(TxnId{1}), (Timestamp{6, 1}));
  EXPECT_EQ(history->status(TxnId{1}), TxnStatus::Committed);
  const PredicateRead& select = history->predicate_read(OpId{1});
  const PredicateRead& aggregate = history->predicate_read(OpId{2});
  EXPECT_TRUE(select.has_version_set);
  EXPECT_EQ(select.version_count, 0u);
  EXPECT_TRUE(aggregate.has_version_set);
  EXPECT_EQ(aggregate.version_count, 1u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ouro::running
