// Running real databases: what a run must find, and what it must not.
//
// The databases are embedded, so nothing but the libraries is needed. Seeds are fixed; threads are
// not, so each hunt has far more transactions than the anomaly has ever needed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "db/built_in.h"
#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class RunTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] RunOptions options(const std::string& url, WorkloadKind workload,
                                   std::uint64_t txns) const {
    RunOptions options;
    options.url = url;
    options.history = path("history.jsonl");
    options.workload.workload = workload;
    options.workload.sessions = 8;
    options.workload.keys = info(workload).keys;
    options.workload.ops_per_txn = info(workload).ops_per_txn;
    if (options.workload.keys == 0) options.workload.keys = 100;
    options.seconds = 60;  // A limit for when something hangs; `txns` ends the run.
    options.txns = txns;
    return options;
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

  History record(const RunOptions& options) {
    const auto report = run(options);
    EXPECT_TRUE(report.ok()) << report.error().to_string();
    if (report.ok()) {
      report_ = *report;
    }
    auto history = read_history(options.history);
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    return history.ok() ? *std::move(history) : History();
  }

  RunReport report_;
  fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("ouro-run-test-{}", ::getpid());
};

Verdict judge(const History& history, Level level, Evidence evidence = Evidence::Observed) {
  CheckOptions options;
  options.evidence = evidence;
  auto verdict = check(history, level, options);
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
  return verdict.ok() ? *std::move(verdict) : Verdict();
}

std::uint64_t occurrences(const Verdict& verdict, AnomalyKind kind) {
  return verdict.counts[static_cast<std::size_t>(kind)];
}

// Committed transactions that read the same version of a key as another, and both overwrote it.
std::size_t lost_updates(const History& history) {
  std::map<std::pair<KeyId, Value>, std::size_t> updates;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    if (history.status(txn) != TxnStatus::Committed) continue;
    std::map<KeyId, Value> read;
    std::set<KeyId> written;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      if (op.kind == OpKind::Read) read.emplace(op.key, op.value);
      if (op.kind == OpKind::Write && read.contains(op.key)) written.insert(op.key);
    }
    for (const KeyId key : written) ++updates[{key, read.at(key)}];
  }
  std::size_t lost = 0;
  for (const auto& [version, count] : updates) lost += count - 1;
  return lost;
}

TEST_F(RunTest, RocksdbWithoutSnapshotsLosesUpdates) {
  if (!db::kWithRocksdb) GTEST_SKIP() << "built without OURO_WITH_ROCKSDB";
  for (const char* url : {"rocksdb:?snapshot=off", "rocksdb:?snapshot=off&mode=optimistic"}) {
    const History history = record(options(url, WorkloadKind::LostUpdate, 20'000));
    EXPECT_GT(lost_updates(history), 0u) << url;
    const Verdict verdict = judge(history, Level::Si);
    EXPECT_EQ(verdict.outcome, Outcome::Violated) << url;
    EXPECT_THAT(describe(history, verdict), HasSubstr("VIOLATED si (lost update")) << url;
    EXPECT_EQ(report_.claims, Level::ReadCommitted);
    EXPECT_EQ(judge(history, Level::ReadCommitted).outcome, Outcome::Holds) << url;
  }
}

TEST_F(RunTest, RocksdbWithSnapshotsHoldsByReadsAndByTimestamps) {
  if (!db::kWithRocksdb) GTEST_SKIP() << "built without OURO_WITH_ROCKSDB";
  for (const char* url : {"rocksdb:", "rocksdb:?mode=optimistic"}) {
    for (const WorkloadKind workload : {WorkloadKind::LostUpdate, WorkloadKind::General}) {
      RunOptions wanted = options(url, workload, 10'000);
      wanted.evidence = true;
      const History history = record(wanted);
      EXPECT_TRUE(report_.timestamps);
      EXPECT_EQ(lost_updates(history), 0u) << url;
      for (const Level level : {Level::Si, Level::StrongSi}) {
        for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps}) {
          const Verdict verdict = judge(history, level, evidence);
          EXPECT_EQ(verdict.outcome, Outcome::Holds) << url << describe(history, verdict);
        }
      }
    }
  }
}

TEST_F(RunTest, RocksdbAllowsWriteSkewAndSqliteDoesNot) {
  if (!db::kWithRocksdb || !db::kWithSqlite) GTEST_SKIP() << "built without a driver";
  const History skewed = record(options("rocksdb:", WorkloadKind::WriteSkew, 20'000));
  EXPECT_EQ(judge(skewed, Level::Si).outcome, Outcome::Holds);
  EXPECT_EQ(judge(skewed, Level::Serializable).outcome, Outcome::Violated);
  const History fine = record(options("sqlite:", WorkloadKind::WriteSkew, 5'000));
  EXPECT_EQ(judge(fine, Level::Serializable).outcome, Outcome::Holds);
}

TEST_F(RunTest, SqliteReadUncommittedReadsWhatWasTakenBack) {
  if (!db::kWithSqlite) GTEST_SKIP() << "built without OURO_WITH_SQLITE";
  RunOptions wanted =
      options("sqlite:?mode=shared&read_uncommitted=on", WorkloadKind::BlindWRw, 4'000);
  wanted.workload.keys = 10;
  wanted.workload.ops_per_txn = 32;  // Writers take their time, and readers see it.
  wanted.workload.abort_share = 0.5;
  const History dirty = record(wanted);
  const Verdict verdict = judge(dirty, report_.claims);
  EXPECT_EQ(verdict.outcome, Outcome::Violated);
  EXPECT_GT(occurrences(verdict, AnomalyKind::AbortedRead), 0u);

  wanted.url = "sqlite:?mode=shared";
  const History clean = record(wanted);
  EXPECT_EQ(report_.claims, Level::Serializable);
  EXPECT_EQ(judge(clean, Level::Serializable).outcome, Outcome::Holds);
}

TEST_F(RunTest, SqliteIsSerializableByReadsAndByTimestamps) {
  if (!db::kWithSqlite) GTEST_SKIP() << "built without OURO_WITH_SQLITE";
  for (const char* url : {"sqlite:", "sqlite:?mode=rollback"}) {
    RunOptions wanted = options(url, WorkloadKind::General, 3'000);
    wanted.workload.keys = 20;
    wanted.evidence = true;
    const History history = record(wanted);
    for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps}) {
      const Verdict verdict = judge(history, Level::Serializable, evidence);
      EXPECT_EQ(verdict.outcome, Outcome::Holds) << url << describe(history, verdict);
    }
  }
}

TEST_F(RunTest, WiredtigerHoldsByReadsAndByTimestampsAndReadsUncommittedIfTold) {
  if (!db::kWithWiredtiger) GTEST_SKIP() << "built without OURO_WITH_WIREDTIGER";
  RunOptions wanted = options("wiredtiger:", WorkloadKind::General, 4'000);
  wanted.evidence = true;
  const History history = record(wanted);
  for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps}) {
    const Verdict verdict = judge(history, Level::StrongSi, evidence);
    EXPECT_EQ(verdict.outcome, Outcome::Holds) << describe(history, verdict);
  }
  wanted = options("wiredtiger:?isolation=read-uncommitted", WorkloadKind::General, 8'000);
  wanted.workload.abort_share = 0.3;
  wanted.workload.keys = 10;
  wanted.workload.ops_per_txn = 32;  // Writers take their time, and readers see it.
  std::uint64_t dirty = 0;
  for (int run = 0; run < 20 && dirty == 0; ++run) {  // It is a matter of luck.
    dirty = occurrences(judge(record(wanted), Level::ReadCommitted), AnomalyKind::AbortedRead);
  }
  EXPECT_GT(dirty, 0u);
}

// Every workload on every database that can do it.
TEST_F(RunTest, EveryWorkloadRunsOnEveryDatabaseAndHolds) {
  std::vector<std::string> urls{"sim:si"};
  if (db::kWithRocksdb) urls.emplace_back("rocksdb:");
  if (db::kWithSqlite) urls.emplace_back("sqlite:");
  if (db::kWithWiredtiger) urls.emplace_back("wiredtiger:");
  for (const std::string& url : urls) {
    for (const WorkloadInfo& workload : workloads()) {
      SCOPED_TRACE(testing::Message() << url << ' ' << workload.name);
      RunOptions wanted = options(url, workload.kind, workload.scans || kSlowdown > 1 ? 80 : 200);
      wanted.evidence = true;
      if (url.starts_with("sim:") && workload.rows) {
        const auto report = run(wanted);
        ASSERT_FALSE(report.ok());
        EXPECT_THAT(report.error().what, HasSubstr("has no rows"));
        continue;
      }
      const History history = record(wanted);
      EXPECT_GT(report_.end.committed, 0u);
      for (const Evidence evidence : {Evidence::Observed, Evidence::Timestamps}) {
        const Verdict verdict = judge(history, report_.claims, evidence);
        EXPECT_EQ(verdict.outcome, Outcome::Holds) << describe(history, verdict);
      }
    }
  }
}

// Money is neither made nor lost: what an audit adds up is the same each time.
TEST_F(RunTest, AuditsOfTheBankAgree) {
  if (!db::kWithRocksdb) GTEST_SKIP() << "built without OURO_WITH_ROCKSDB";
  const History history = record(options("rocksdb:", WorkloadKind::Bank, 3'000));
  std::size_t audits = 0;
  for (std::size_t i = 0; i < history.txn_count(); ++i) {
    const TxnId txn{i};
    const std::size_t reads = history.end_op(txn).index() - history.first_op(txn).index();
    if (history.status(txn) != TxnStatus::Committed || reads != 10) continue;
    std::int64_t total = 0;
    bool only_reads = true;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      const Op op = history.op(id);
      only_reads &= op.kind == OpKind::Read;
      total += (op.value.number() + 500'000) % 1'000'000 - 500'000;
    }
    if (!only_reads) continue;
    ++audits;
    EXPECT_EQ(total, 1000);
  }
  EXPECT_GT(audits, 100u);
}

struct FaultCase {
  const char* fault;
  Level broken;
  std::optional<AnomalyKind> kind;  // What the broken level must report.
  std::vector<Level> intact;
};
const std::vector<FaultCase>& fault_cases() {
  using enum Level;
  static const std::vector<FaultCase> all{
      {"aborted-read", ReadCommitted, AnomalyKind::AbortedRead, {}},
      {"intermediate-read", ReadCommitted, AnomalyKind::IntermediateRead, {}},
      {"thin-air-read", ReadCommitted, AnomalyKind::ThinAirRead, {}},
      {"future-read", ReadCommitted, AnomalyKind::FutureRead, {}},
      {"internal", ReadCommitted, AnomalyKind::Internal, {}},
      {"non-repeatable-read", ReadAtomic, AnomalyKind::NonRepeatableRead, {ReadCommitted}},
      {"non-monotonic-read", ReadCommitted, AnomalyKind::CommitOrderCycle, {}},
      {"fractured-read", ReadAtomic, AnomalyKind::FracturedRead, {ReadCommitted}},
      {"read-skew", ReadAtomic, AnomalyKind::FracturedRead, {ReadCommitted}},
      {"causality-violation", Causal, AnomalyKind::CausalityViolation, {ReadAtomic}},
      {"long-fork", Prefix, std::nullopt, {ParallelSi}},
      {"lost-update", Si, std::nullopt, {Prefix}},
      {"write-skew", Serializable, AnomalyKind::ForbiddenCycle, {SessionSi}},
      {"stale-read", ReadAtomic, std::nullopt, {Si, Serializable}},
      {"real-time-violation", StrictSerializable, std::nullopt, {SessionSerializable}},
      {"duplicate-elements", ReadCommitted, AnomalyKind::DuplicateElements, {}},
      {"incompatible-order", ReadCommitted, AnomalyKind::IncompatibleOrder, {}},
      {"g-sib", ParallelSi, std::nullopt, {Prefix}},
      {"circular-information-flow", ReadCommitted, AnomalyKind::DependencyCycle, {}},
      {"phantom", Serializable, std::nullopt, {RepeatableRead, SessionSi}},
  };
  return all;
}

// The store is serial, and so no level of snapshots with real time need hold: two transactions that
// overlap may write one key.
TEST_F(RunTest, TheSimulatedStoreShowsEachPlantedFaultAndNothingWorse) {
  ASSERT_EQ(fault_cases().size(), faults().size());
  for (const FaultCase& one : fault_cases()) {
    SCOPED_TRACE(one.fault);
    const std::string fault = one.fault;
    const bool lists = fault == "duplicate-elements" || fault == "incompatible-order";
    const WorkloadKind workload = lists                ? WorkloadKind::ListAppend
                                  : fault == "phantom" ? WorkloadKind::RangeBalanced
                                                       : WorkloadKind::General;
    const RunOptions wanted =
        options("sim:strict-serializable?rate=0.02&fault=" + fault, workload, 1000);
    const History history = record(wanted);
    const Verdict broken = judge(history, one.broken);
    EXPECT_EQ(broken.outcome, Outcome::Violated);
    if (one.kind) {
      EXPECT_GT(occurrences(broken, *one.kind), 0u);
    }
    for (const Level level : one.intact) {
      const Verdict intact = judge(history, level);
      EXPECT_EQ(intact.outcome, Outcome::Holds) << describe(history, intact);
    }
  }
}

// What users read: the anomaly by its name. A read skew in which the reader sees one of two writes
// of one transaction is a fractured read.
TEST_F(RunTest, TheCommandNamesEachPlantedFault) {
  struct Named {
    const char* fault;
    const char* level;
    const char* name;
  };
  constexpr Named kNamed[] = {
      {"aborted-read", "rc", "aborted read"},
      {"intermediate-read", "rc", "intermediate read"},
      {"thin-air-read", "rc", "thin-air read"},
      {"future-read", "rc", "future read"},
      {"internal", "rc", "internal inconsistency"},
      {"non-repeatable-read", "ra", "non-repeatable read"},
      {"non-monotonic-read", "rc", "non-monotonic read"},
      {"fractured-read", "ra", "fractured read"},
      {"read-skew", "si", "fractured read"},
      {"causality-violation", "cc", "causality violation"},
      {"long-fork", "si", "long fork"},
      {"lost-update", "si", "lost update"},
      {"write-skew", "ser", "write skew"},
      {"stale-read", "session-si", "stale read"},
      {"real-time-violation", "strict-ser", "stale read"},
      {"duplicate-elements", "rc", "duplicate elements"},
      {"incompatible-order", "rc", "incompatible order"},
      {"g-sib", "si", "read skew"},
      {"circular-information-flow", "rc", "circular information flow"},
      {"phantom", "ser", "phantom"},
  };
  ASSERT_EQ(std::size(kNamed), faults().size());
  for (const Named& one : kNamed) {
    const std::string fault = one.fault;
    const bool lists = fault == "duplicate-elements" || fault == "incompatible-order";
    const Ran ran = run_program(
        {kOuroBinary, "run", "sim:strict-serializable?rate=0.02&fault=" + fault, "-n", "1000", "-w",
         lists                ? "list-append"
         : fault == "phantom" ? "range-b"
                              : "general",
         "-l", one.level, "-o", path("named.jsonl")});
    EXPECT_EQ(ran.status, 1) << fault << ran.err;
    EXPECT_THAT(ran.out.substr(0, ran.out.find('\n')), HasSubstr(one.name)) << fault;
  }
}

TEST_F(RunTest, TheSimulatedStoreWithoutFaultsKeepsEveryLevel) {
  for (const LevelInfo& level : levels()) {
    if (level.level == Level::RepeatableRead) continue;
    RunOptions wanted = options(fmt::format("sim:{}", level.name), WorkloadKind::General, 2000);
    wanted.workload.keys = 20;
    const History history = record(wanted);
    const Verdict verdict = judge(history, level.level);
    EXPECT_EQ(verdict.outcome, Outcome::Holds) << level.name << describe(history, verdict);
  }
}

TEST_F(RunTest, ValuesRepeatOnlyIfAsked) {
  for (const bool duplicates : {false, true}) {
    RunOptions wanted = options("sim:si", WorkloadKind::General, 500);
    wanted.duplicates = duplicates;
    wanted.evidence = true;
    const History history = record(wanted);
    std::set<std::int64_t> values;
    std::size_t writes = 0;
    for (std::size_t i = 0; i < history.op_count(); ++i) {
      const Op op = history.op(OpId{i});
      if (op.kind != OpKind::Write) continue;
      ++writes;
      values.insert(op.value.number());
    }
    EXPECT_EQ(values.size(), duplicates ? 10u : writes);
    EXPECT_EQ(judge(history, Level::Si, Evidence::Timestamps).outcome, Outcome::Holds);
  }
}

TEST_F(RunTest, RateAndThinkTimeSlowClientsDown) {
  RunOptions wanted = options("sim:si", WorkloadKind::General, 100);
  wanted.rate = 200;
  record(wanted);
  EXPECT_GE(report_.end.seconds, 0.4) << "half a second, but some may come at once";
  EXPECT_GE(report_.end.committed, 10u);
  wanted.rate = 0;
  wanted.txns = 88;  // 11 for each client, with 10 pauses between them.
  wanted.think_time = std::chrono::milliseconds(50);
  record(wanted);
  EXPECT_GE(report_.end.seconds, 0.4);
}

TEST_F(RunTest, BadOptionsAreRefusedBeforeAnythingIsWritten) {
  RunOptions wanted = options("sim:si", WorkloadKind::General, 0);
  wanted.seconds = 0;
  EXPECT_THAT(run(wanted).error().what, HasSubstr("never end"));
  wanted = options("sim:nothing", WorkloadKind::General, 10);
  EXPECT_THAT(run(wanted).error().what, HasSubstr("no simulated store keeps 'nothing'"));
  wanted.url = "sim:si?fault=gremlins";
  EXPECT_THAT(run(wanted).error().what, HasSubstr("unknown fault 'gremlins'"));
  wanted.url = "sim:si?fault=lost-update&rate=2";
  EXPECT_THAT(run(wanted).error().what, HasSubstr("from 0 to 1"));
  wanted.url = "nonsense";
  EXPECT_THAT(run(wanted).error().what, HasSubstr("no database URL"));
  wanted.url = "sim:si?fault=duplicate-elements";
  EXPECT_THAT(run(wanted).error().what, HasSubstr("use the list-append workload"));
  EXPECT_FALSE(fs::exists(wanted.history));
  wanted = options("sim:si", WorkloadKind::General, 10);
  wanted.history = "/no/such/folder/x.jsonl";
  EXPECT_THAT(run(wanted).error().to_string(), HasSubstr("/no/such/folder/x.jsonl"));
}

TEST_F(RunTest, ARunWhoseHistoryCannotBeWrittenEndsAtOnce) {
  RunOptions wanted = options("sim:si", WorkloadKind::General, 0);
  wanted.history = "/dev/full";
  wanted.seconds = 600;
  const auto report = run(wanted);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().to_string(), HasSubstr("/dev/full: cannot write this file: No space"));
}

// The command.

TEST_F(RunTest, TheCommandRunsChecksAndTellsByItsStatus) {
  const std::string file = path("run.jsonl");
  const Ran fine = run_program({kOuroBinary, "run", "sim:si", "-n", "300", "-o", file});
  EXPECT_EQ(fine.status, 0) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr(file + ": holds si"));
  EXPECT_THAT(fine.err, HasSubstr("simulated si store: "));
  EXPECT_EQ(run_program({kOuroBinary, "check", "-l", "si", file}).status, 0);

  const Ran both = run_program(
      {kOuroBinary, "run", "sim:si", "-n", "300", "-o", file, "--evidence", "timestamps"});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr(file + ": holds si by timestamps\n"));
  EXPECT_THAT(both.out, HasSubstr(file + ": holds si\n"));

  const Ran broken = run_program({kOuroBinary, "run", "sim:si?fault=lost-update&rate=0.1", "-n",
                                  "300", "-o", file, "--evidence", "timestamps"});
  EXPECT_EQ(broken.status, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("VIOLATED si"));

  const Ran json = run_program({kOuroBinary, "run", "sim:si", "-n", "100", "--json", "-q"});
  EXPECT_THAT(json.out, IsEmpty());
  EXPECT_THAT(json.err, IsEmpty());
}

TEST_F(RunTest, TheCommandKeepsWhatIsLeftOfAViolation) {
  const Ran ran =
      run_program({kOuroBinary, "run", "sim:si?fault=thin-air-read&rate=0.1", "-n", "300"});
  EXPECT_EQ(ran.status, 1);
  const std::string marker = "history, report and command are in ";
  const std::size_t at = ran.err.find(marker);
  ASSERT_NE(at, std::string::npos) << ran.err;
  std::string kept = ran.err.substr(at + marker.size());
  kept.erase(kept.find('\n'));
  const std::string history = kept + "/history.jsonl";
  EXPECT_EQ(run_program({kOuroBinary, "check", "-l", "si", "-q", history}).status, 1);
  EXPECT_EQ(run_program({kOuroBinary, "certify", history, kept + "/certificate.jsonl"}).status, 0);
  EXPECT_THAT(slurp(kept + "/report.html"), HasSubstr("<html"));
  EXPECT_THAT(slurp(kept + "/command.txt"),
              AllOf(HasSubstr("ouro run 'sim:si?fault=thin-air-read&rate=0.1' -n 300\n"),
                    HasSubstr("\nseed 1\n"), HasSubstr("\nlevel si\n")));
  fs::remove_all(kept);
}

// Whatever else was asked for.
TEST_F(RunTest, TheFolderOfAViolatedRunIsWhole) {
  const std::string page = path("page.html"), proof = path("proof.jsonl");
  const std::vector<std::vector<std::string>> asked{{"--html", page, "--certificate", proof},
                                                    {"-l", "all"},
                                                    {"-l", "causal,si,ser"},
                                                    {"--html", "-"}};
  for (const auto& more : asked) {
    const std::string folder = path("whole");
    std::vector<std::string> words{kOuroBinary, "run", "sim:si?fault=lost-update&rate=0.1",
                                   "-n",        "300", "-q",
                                   "--keep",    folder};
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(run_program(words).status, 1) << more[0];
    EXPECT_THAT(slurp(folder + "/report.html"), HasSubstr("<html")) << more[0];
    const Ran certified = run_program(
        {kOuroBinary, "certify", folder + "/history.jsonl", folder + "/certificate.jsonl"});
    EXPECT_EQ(certified.status, 0) << more[0] << certified.err;
    EXPECT_THAT(certified.out, HasSubstr("violated")) << more[0];
    fs::remove_all(folder);
  }
  EXPECT_THAT(slurp(page), HasSubstr("<html"));
  EXPECT_THAT(slurp(proof), Not(IsEmpty()));
}

TEST_F(RunTest, CommandsAreKeptWithoutPasswords) {
  // An expectation that is not met, so that something is left.
  const auto told = [&](std::vector<std::string> words) {
    const std::string folder = path("told");
    words.insert(words.begin(), {kOuroBinary, "run", "-n", "20", "-q", "--shows", "thin-air-read",
                                 "--keep", folder});
    EXPECT_EQ(run_program(words).status, 1);
    std::string text = slurp(folder + "/command.txt");
    fs::remove_all(folder);
    return text.substr(0, text.find('\n'));
  };
  // Commands of a nemesis, since they may be any words.
  const std::pair<const char*, const char*> cases[] = {
      {"true mysql://root:sekret@h:1,h2:2/t?x=1", "true mysql://root:***@h:1,h2:2/t?x=1"},
      {"true 'postgres://u:se@kret@h/d' http://h:80/x", "postgres://u:***@h/d"},
      {"true x://h/d?user=u&password=sekret&b=1", "x://h/d?user=u&password=***&b=1"},
      {"true --connect \"host=h password=sekret user=u\"", "host=h password=*** user=u"},
      {"true \"password='se kret' user=u\"", "user=u"},
      {"true --password sekret --user u", "--password *** --user u"},
      {"PGPASSWORD=sekret true --api-token=sekret", "PGPASSWORD=*** true --api-token=***"},
  };
  for (const auto& [command, kept] : cases) {
    const std::string text = told({"sim:si", "--nemesis-command", command});
    EXPECT_THAT(text, AllOf(HasSubstr(kept), Not(HasSubstr("sekret")), Not(HasSubstr("kret"))))
        << command;
  }
}

TEST_F(RunTest, WhatIsLeftGoesWhereItIsAskedTo) {
  const std::string folder = path("kept"), history = path("h.jsonl");
  const std::vector<std::string> violated{kOuroBinary, "run", "sim:si?fault=thin-air-read&rate=0.1",
                                          "-n",        "300", "-q",
                                          "--keep",    folder};
  auto named = violated;
  named.insert(named.end(), {"-o", history});
  EXPECT_EQ(run_program(named).status, 1);
  EXPECT_EQ(slurp(folder + "/history.jsonl"), slurp(history));
  const Ran again = run_program(violated);
  EXPECT_EQ(again.status, 254);
  EXPECT_THAT(again.err, HasSubstr("is not empty; name a new folder"));

  // Nothing is left of a run that holds, but for a folder that was there before.
  fs::remove_all(folder);
  const std::vector<std::string> fine{kOuroBinary, "run", "sim:si", "-n",
                                      "100",       "-q",  "--keep", folder};
  EXPECT_EQ(run_program(fine).status, 0);
  EXPECT_FALSE(fs::exists(folder));
  fs::create_directory(folder);
  EXPECT_EQ(run_program(fine).status, 0);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(RunTest, TheCommandWritesFormsAndFollowsExpectations) {
  const std::string expected = path("expected"), junit = path("h.xml"), sarif = path("h.sarif");
  std::ofstream(expected) << "serializable violated\nsi holds\nshows write-skew\n";
  const Ran ran = run_program({kOuroBinary, "run", "sim:si", "-w", "write-skew", "-n", "2000", "-q",
                               "--expect", expected, "--junit", junit, "--sarif", sarif});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(slurp(junit), HasSubstr("<testcase"));
  EXPECT_THAT(slurp(sarif), HasSubstr(R"("ruleId":"write-skew")"));
  const Ran blind = run_program({kOuroBinary, "run", "sim:ser", "-w", "write-skew", "-n", "500",
                                 "-q", "--shows", "write-skew", "--keep", path("blind")});
  EXPECT_EQ(blind.status, 1);
  EXPECT_THAT(blind.err, HasSubstr("is the test blind?"));
  EXPECT_TRUE(fs::exists(path("blind") + "/history.jsonl"));
}

TEST_F(RunTest, AnExpectationMayComeThroughAPipe) {
  const std::string run = std::string("'") + kOuroBinary + "' run sim:si -w write-skew -n 2000 -q";
  const auto expecting = [&](const std::string& what) {
    return run_program({"/bin/bash", "-c", run + " --expect <(echo '" + what + "')"}).status;
  };
  EXPECT_EQ(expecting("serializable violated"), 0);
  EXPECT_EQ(expecting("serializable holds"), 1);
}

TEST_F(RunTest, TheCommandRefusesWhatItCannotDo) {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kOuroBinary, "run"});
    const Ran ran = run_program(arguments);
    EXPECT_EQ(ran.status, 254) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused({"oracle://x"}), HasSubstr("no driver for 'oracle'"));
  EXPECT_THAT(refused({"sim:si", "-l", "serialisable"}), HasSubstr("did you mean"));
  EXPECT_THAT(refused({"sim:si", "-w", "nothing"}), HasSubstr("unknown workload 'nothing'"));
  EXPECT_THAT(refused({"sim:si", "-w", "tpcc", "--keys", "5"}), HasSubstr("has its own keys"));
  EXPECT_THAT(refused({"sim:si", "--ops", "9-2"}), HasSubstr("must not be larger"));
  EXPECT_THAT(refused({"sim:si", "--ops", "x"}), HasSubstr("two such as 2-16"));
  EXPECT_THAT(refused({"sim:si", "-o", "/no/such/folder/x.jsonl"}), HasSubstr("/no/such/folder"));
  if (db::kWithSqlite) {
    EXPECT_THAT(refused({"sqlite:?mode=shared&read_uncommitted=on", "--level", "si", "--evidence",
                         "timestamps"}),
                HasSubstr("gives no evidence"));
  }
}

TEST_F(RunTest, CtrlCEndsTheRunAndWhatWasRecordedIsChecked) {
  const std::string file = path("interrupted.jsonl");
  Program program({kOuroBinary, "run", "sim:si", "--seconds", "600", "--rate", "500", "-o", file});
  // Without any transaction there would be nothing to check.
  std::error_code none;
  for (int i = 0; i < 6000; ++i) {
    const auto size = std::filesystem::file_size(file, none);
    if (!none && size > 2000) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  program.send_when_caught(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("holds si"));
  EXPECT_EQ(run_program({kOuroBinary, "check", "-l", "si", "-q", file}).status, 0);
}

std::uint64_t size_of(const std::string& path) {
  std::error_code problem;
  const std::uintmax_t size = fs::file_size(path, problem);
  return problem ? 0 : size;
}

// However suddenly the process dies, the history is whole and right, and nothing else is left.
TEST_F(RunTest, AKilledRunLeavesAHistoryThatHolds) {
  for (int round = 0; round < 5; ++round) {
    const std::string file = path("killed.jsonl");
    fs::remove(file);
    const std::string temporary_files = path("temporary");
    fs::create_directories(temporary_files);
    Program program({"/usr/bin/env", "TMPDIR=" + temporary_files, kOuroBinary, "run",
                     "sim:strict-serializable", "--seconds", "600", "--keys", "10", "--ops", "4",
                     "-o", file});
    for (int i = 0; i < 60'000 && size_of(file) < 100'000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().status, 128 + SIGKILL);
    // The processes that outlived it have done everything when their ends of our pipe are closed,
    // which wait() saw.
    EXPECT_TRUE(fs::is_empty(temporary_files));
    const auto history = read_history(file);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_GT(history->txn_count(), 500u);
    const Verdict verdict = judge(*history, Level::StrictSerializable);
    EXPECT_EQ(verdict.outcome, Outcome::Holds) << describe(*history, verdict);
  }
}

}  // namespace
}  // namespace ouro
