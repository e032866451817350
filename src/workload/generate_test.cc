#include "ouro/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ouro/check.h"

namespace ouro {
namespace {

using testing::HasSubstr;

// All that a history contains, as lines of text, to compare two histories.
std::vector<std::string> told(const History& history) {
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    std::string line = history.label(history.session_name(history.session(txn))) + " " +
                       std::to_string(static_cast<int>(history.status(txn)));
    for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      line += is_write(op.kind) ? " w" : " r";
      line += history.key_label(op.key) + "=" + history.text(op.value);
    }
    lines.push_back(line);
  }
  return lines;
}

GenerateOptions lively() {
  GenerateOptions options;
  options.txns = 2000;
  options.abort_share = 0.1;
  options.unknown_share = 0.1;
  options.rmw_share = 0.3;
  return options;
}

std::map<TxnStatus, std::size_t> count_statuses(const History& history) {
  std::map<TxnStatus, std::size_t> count;
  for (std::size_t t = 0; t < history.txn_count(); ++t) ++count[history.status(TxnId{t})];
  return count;
}

TEST(GenerateTest, TheSameSeedGivesTheSameHistoryAndAnotherSeedAnother) {
  for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::BlindWRm,
                                      WorkloadKind::BlindWRw, WorkloadKind::ListAppend}) {
    GenerateOptions options = lively();
    options.workload = workload;
    options.faults = {{.fault = Fault::LongFork, .rate = 0.01}};
    const auto first = told(*generate(options));
    EXPECT_EQ(first, told(*generate(options)));
    options.seed = 2;
    EXPECT_NE(first, told(*generate(options)));
  }
}

TEST(GenerateTest, WhatIsRecordedDoesNotChangeWhatHappens) {
  GenerateOptions options = lively();
  const auto plain = told(*generate(options));
  options.clocks = options.timestamps = options.version_orders = true;
  EXPECT_EQ(plain, told(*generate(options)));
}

// A change here changes every history that somebody made with a seed: say so in the release notes.
TEST(GenerateTest, ASeedMeansTheSameInEveryRelease) {
  GenerateOptions options;
  options.txns = 3;
  options.sessions = 2;
  options.ops_per_txn = 3;
  options.keys = 1000;
  options.key_choice = KeyChoice::Zipf;
  options.store = Level::Si;
  EXPECT_THAT(told(*generate(options)),
              testing::ElementsAre("1 0 w927=1 r4=null w1=1", "0 0 w18=1 w251=1 w6=1",
                                   "1 0 r349=null w196=1 w706=1"));
}

TEST(GenerateTest, MakesAsManyOfEverythingAsAskedFor) {
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    GenerateOptions options = lively();
    options.store = level.level;
    options.ops_per_txn = 5;
    const History history = *generate(options);
    EXPECT_EQ(history.txn_count(), 2000u) << level.name;
    EXPECT_EQ(history.op_count(), 10000u) << level.name;
    EXPECT_EQ(history.session_count(), 10u) << level.name;
    EXPECT_EQ(history.key_count(), 100u) << level.name;
  }
  GenerateOptions none;
  none.txns = 0;
  EXPECT_EQ(generate(none)->txn_count(), 0u);
}

TEST(GenerateTest, SharesComeOutAsAskedFor) {
  GenerateOptions options = lively();
  options.txns = 20000;
  options.store = Level::ReadCommitted;
  options.read_share = 0.6;
  options.keys = 100000;  // So many that two operations hardly ever meet on a key by chance.
  const History history = *generate(options);
  double reads = 0;
  double rmw = 0;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Read) ++reads;
    if (op.kind == OpKind::Write && i > 0 && history.op(OpId{i - 1}).key == op.key) ++rmw;
  }
  const auto ops = static_cast<double>(history.op_count());
  EXPECT_NEAR(reads / ops, 0.6, 0.01);
  EXPECT_NEAR(rmw / (ops - reads), 0.3, 0.01);
  auto count = count_statuses(history);
  EXPECT_NEAR(static_cast<double>(count[TxnStatus::Aborted]) / 20000, 0.09, 0.02);
  EXPECT_NEAR(static_cast<double>(count[TxnStatus::Unknown]) / 20000, 0.1, 0.02);
}

TEST(GenerateTest, EveryWriteFollowsAReadOfItsKeyIfAllAreReadModifyWrites) {
  GenerateOptions options;
  options.read_share = 0.2;
  options.rmw_share = 1;
  const History history = *generate(options);
  for (std::size_t i = 0; i < history.op_count(); i += 2) {
    ASSERT_EQ(history.op(OpId{i}).kind, OpKind::Read);
    ASSERT_EQ(history.op(OpId{i + 1}).kind, OpKind::Write);
    ASSERT_EQ(history.op(OpId{i}).key, history.op(OpId{i + 1}).key);
  }
}

TEST(GenerateTest, BlindWTransactionsEitherReadOrWrite) {
  for (const auto& [workload, read_only_share] :
       {std::pair{WorkloadKind::BlindWRm, 0.9}, std::pair{WorkloadKind::BlindWRw, 0.5}}) {
    GenerateOptions options;
    options.workload = workload;
    options.txns = 5000;
    const History history = *generate(options);
    double read_only = 0;
    for (std::size_t t = 0; t < history.txn_count(); ++t) {
      const TxnId txn{t};
      const OpKind kind = history.op(history.first_op(txn)).kind;
      if (kind == OpKind::Read) ++read_only;
      for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
        ASSERT_EQ(history.op(id).kind, kind);
      }
    }
    EXPECT_NEAR(read_only / 5000, read_only_share, 0.03);
  }
}

TEST(GenerateTest, AbortedWritesAreNeverSeenAndUnknownOnesSometimes) {
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    GenerateOptions options = lively();
    options.store = level.level;
    options.timestamps = true;
    options.version_orders = true;
    const History history = *generate(options);
    std::map<std::pair<KeyId, Value>, TxnId> writer;
    for (std::size_t i = 0; i < history.op_count(); ++i) {
      const Op op = history.op(OpId{i});
      if (op.kind != OpKind::Write) continue;
      ASSERT_TRUE(writer.emplace(std::pair{op.key, op.value}, history.txn_of(op.id)).second);
    }
    std::set<TxnId> seen_unknown;
    for (std::size_t i = 0; i < history.op_count(); ++i) {
      const Op op = history.op(OpId{i});
      if (op.kind != OpKind::Read || op.value.is_null()) continue;
      const TxnId from = writer.at({op.key, op.value});
      if (from == history.txn_of(op.id)) continue;
      ASSERT_NE(history.status(from), TxnStatus::Aborted) << level.name;
      if (history.status(from) == TxnStatus::Unknown) {
        seen_unknown.insert(from);
        ASSERT_TRUE(history.commit_ts(from).has_value()) << level.name;
      }
    }
    auto count = count_statuses(history);
    EXPECT_GT(seen_unknown.size(), 10u) << level.name;
    EXPECT_LT(seen_unknown.size(), count[TxnStatus::Unknown]) << level.name;
    for (const VersionOrder& order : history.version_orders()) {
      for (const Value value : history.versions(order)) {
        ASSERT_NE(history.status(writer.at({order.key, value})), TxnStatus::Aborted);
      }
    }
  }
}

TEST(GenerateTest, ClocksRunWithTheSessionsAndTransactionsOverlap) {
  GenerateOptions options = lively();
  options.clocks = true;
  const History history = *generate(options);
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    std::int64_t before = 0;
    for (const TxnId txn : history.session_txns(SessionId{s})) {
      ASSERT_LT(before, history.invoked(txn).value());
      before = history.invoked(txn).value();
      ASSERT_EQ(history.completed(txn).has_value(), history.status(txn) != TxnStatus::Unknown);
      if (!history.completed(txn)) continue;
      ASSERT_LT(before, *history.completed(txn));
      before = *history.completed(txn);
    }
  }
  std::size_t overlaps = 0;
  for (std::size_t t = 1; t < history.txn_count(); ++t) {
    const auto completed = history.completed(TxnId{t - 1});
    if (completed && history.invoked(TxnId{t}).value() < *completed) ++overlaps;
  }
  EXPECT_GT(overlaps, history.txn_count() / 4);
}

// What a checker by timestamps asks of SI: reads return the last commit up to the start, and
// nobody else commits a write of the same key between start and commit.
void check_timestamps(const History& history) {
  std::map<KeyId, std::map<Timestamp, Value>> committed;
  std::set<Timestamp> taken;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    ASSERT_TRUE(taken.insert(history.start_ts(txn).value()).second);
    const auto commit = history.commit_ts(txn);
    if (history.status(txn) != TxnStatus::Unknown) {
      ASSERT_EQ(commit.has_value(), history.status(txn) == TxnStatus::Committed);
    }
    if (!commit) continue;
    ASSERT_LT(*history.start_ts(txn), *commit);
    ASSERT_TRUE(taken.insert(*commit).second);
    for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      if (op.kind == OpKind::Write) committed[op.key][*commit] = op.value;
    }
  }
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    const auto commit = history.commit_ts(txn);
    if (!commit) continue;
    std::set<KeyId> written;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      const auto& versions = committed[op.key];
      const auto after = versions.upper_bound(*history.start_ts(txn));
      if (op.kind == OpKind::Write) {
        written.insert(op.key);
        ASSERT_EQ(after->first, *commit);
      } else if (!written.contains(op.key)) {
        const Value expected = after == versions.begin() ? Value() : std::prev(after)->second;
        ASSERT_EQ(op.value, expected);
      }
    }
  }
}

TEST(GenerateTest, TimestampsExplainEverySnapshotAndSerializableStore) {
  for (const LevelInfo& level : levels()) {
    if (!decidable(level.level, Evidence::Timestamps)) continue;
    GenerateOptions options = lively();
    options.store = level.level;
    options.timestamps = true;
    SCOPED_TRACE(level.name);
    check_timestamps(*generate(options));
  }
}

TEST(GenerateTest, LongListsGiveWayToNewKeys) {
  GenerateOptions options;
  options.workload = WorkloadKind::ListAppend;
  options.txns = 5000;
  options.keys = 3;
  const History history = *generate(options);
  EXPECT_GT(history.key_count(), 3u);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Read) longest = std::max(longest, history.list(op.value).size());
  }
  EXPECT_GT(longest, 100u);
  EXPECT_LT(longest, 300u);
}

// A planted fault retires the lists that it used, and the new keys may never be used.
TEST(GenerateTest, VersionOrdersNameOnlyKeysOfTheHistory) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    GenerateOptions options;
    options.seed = seed;
    options.workload = WorkloadKind::ListAppend;
    options.txns = 20;
    options.keys = 50;
    options.version_orders = true;
    options.faults = {{.fault = Fault::LostUpdate, .rate = 1}};
    const History history = *generate(options);
    ASSERT_EQ(history.version_orders().size(), history.key_count()) << "seed " << seed;
    for (const VersionOrder& order : history.version_orders()) {
      ASSERT_LT(order.key.index(), history.key_count()) << "seed " << seed;
    }
  }
}

TEST(GenerateTest, OneSessionAndOneKeyAreEnough) {
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend}) {
      GenerateOptions options;
      options.store = level.level;
      options.workload = workload;
      options.sessions = 1;
      options.keys = 1;
      options.faults = {{.fault = Fault::StaleRead, .rate = 0.1}};
      EXPECT_EQ(generate(options)->txn_count(), 1000u) << level.name;
    }
  }
}

void expect_error(const GenerateOptions& options, const char* part) {
  const auto history = generate(options);
  ASSERT_FALSE(history.ok()) << part;
  EXPECT_THAT(history.error().what, HasSubstr(part));
}

TEST(GenerateTest, BadOptionsAreRefusedWithAdvice) {
  GenerateOptions options;
  options.sessions = 0;
  expect_error(options, "at least one session");
  options = {};
  options.keys = 0;
  expect_error(options, "at least one key");
  options = {};
  options.ops_per_txn = 0;
  expect_error(options, "use at least one");
  options = {};
  options.txns = 1'000'000'000;
  expect_error(options, "use fewer");
  options = {};
  options.ops_per_txn = 0xffffffff;
  expect_error(options, "use at most");
  options = {};
  options.keys = 1ULL << 40;
  expect_error(options, "use at most");
  options = {};
  options.sessions = 0xffffffff;
  expect_error(options, "use at most");
  options = {};
  options.store = Level::RepeatableRead;
  expect_error(options, "no repeatable-read store");
  options = {};
  options.zipf_theta = -1;
  expect_error(options, "Zipf theta");
  for (double GenerateOptions::*share : std::initializer_list<double GenerateOptions::*>{
           &GenerateOptions::read_share, &GenerateOptions::rmw_share,
           &GenerateOptions::hotspot_keys, &GenerateOptions::hotspot_ops,
           &GenerateOptions::abort_share, &GenerateOptions::unknown_share}) {
    for (const double value : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
      options = {};
      options.*share = value;
      expect_error(options, "must be between 0 and 1");
    }
  }
}

TEST(GenerateTest, FaultsThatCannotShowAreRefusedWithAdvice) {
  GenerateOptions options;
  options.faults = {{.fault = Fault::LostUpdate, .rate = 2}};
  expect_error(options, "rate of fault lost-update is 2");
  options.faults = {{.fault = Fault::DuplicateElements, .rate = 0.1}};
  expect_error(options, "use the list-append workload");
  options.faults = {{.fault = Fault::Phantom, .rate = 0.1}};
  expect_error(options, "use a range workload");
  options.faults = {{.fault = Fault::RealTimeViolation, .rate = 0.1}};
  expect_error(options, "record clocks");
  options.faults = {{.fault = Fault::LongFork, .rate = 0.1}};
  options.sessions = 3;
  expect_error(options, "fault long-fork needs 4 sessions, there are 3");
  options.sessions = 10;
  options.keys = 1;
  expect_error(options, "fault long-fork needs 2 keys, there are 1");
}

}  // namespace
}  // namespace ouro
