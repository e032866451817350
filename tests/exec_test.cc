// Databases reached by another program (docs/drivers.md): what such a program may do wrong must
// become an error or unknown transactions, never a wrong verdict, and never a hang.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <thread>

#include "db/exec_child.h"
#include "ouro/ouro.h"
#include "tests/files.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

const std::string kPython = "exec:/usr/bin/python3 " OURO_SOURCE_DIR;

std::string reference(const std::string& arguments) {
  return kPython + "/clients/drivers/python/ouro_driver.py " + arguments;
}
std::string bad(const std::string& arguments) {
  return kPython + "/tests/data/bad_driver.py " + arguments;
}

class ExecTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] RunOptions options(const std::string& url, WorkloadKind workload,
                                   std::uint64_t txns) const {
    RunOptions options;
    options.url = url;
    options.history = (folder_ / "history.jsonl").string();
    options.workload.workload = workload;
    options.workload.sessions = 2;
    options.workload.keys = 10;
    options.workload.ops_per_txn = info(workload).ops_per_txn;
    options.seconds = 60;  // A limit for when something hangs; `txns` ends the run.
    options.txns = txns;
    return options;
  }
  // Runs, reads what was recorded, and expects `level` of it.
  void expect_holds(const RunOptions& options, Evidence evidence = Evidence::Observed) {
    const auto report = run(options);
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    report_ = *report;
    const auto history = read_history(options.history);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    CheckOptions how;
    how.evidence = evidence;
    const auto verdict = check(*history, Level::Serializable, how);
    ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
    EXPECT_EQ(verdict->outcome, Outcome::Holds) << options.url;
  }

  RunReport report_;
  fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("ouro-exec-test-{}", ::getpid());
};

TEST_F(ExecTest, TheReferenceDriverRunsEveryModel) {
  for (const char* how : {"sqlite", "sqlite --steps --threads"}) {
    for (const WorkloadKind workload : {WorkloadKind::General, WorkloadKind::ListAppend,
                                        WorkloadKind::RangeBalanced, WorkloadKind::Predicates}) {
      RunOptions asked = options(reference(how), workload, 60);
      asked.workload.keys = std::max<std::uint64_t>(info(workload).keys, 10);
      expect_holds(asked);
      EXPECT_GT(report_.end.committed, 0u);
      EXPECT_EQ(report_.end.unknown, 0u);
      EXPECT_THAT(report_.database, HasSubstr("SQLite"));
    }
  }
}

TEST_F(ExecTest, TimestampsOfTheDriverAreRecorded) {
  RunOptions asked = options(reference("sqlite"), WorkloadKind::General, 100);
  asked.evidence = true;
  expect_holds(asked, Evidence::Timestamps);
  EXPECT_TRUE(report_.timestamps);
}

// Faults after which nothing comes are waited for; all others are noticed at once, however busy the
// machine is.
std::chrono::milliseconds patience_for(std::string_view driver) {
  const bool silent = driver.find("silent") != driver.npos || driver.find("half ") != driver.npos ||
                      driver.find("sleep") != driver.npos || driver.find("late ") != driver.npos ||
                      driver.find("lie ") != driver.npos || driver.find("deaf") != driver.npos ||
                      driver.find("stop ") != driver.npos || driver.find("drip") != driver.npos;
  return silent ? 2s : 120s;
}

// The faults strike after the first transactions, so runs go on with what is left.
TEST_F(ExecTest, WhateverTheDriverDoesNoVerdictIsWrong) {
  const char* const faults[] = {
      "silent txn",     "exit txn",      "kill commit",    "kill-after commit",
      "kill-after txn", "nonsense op 9", "half commit",    "half-exit txn",
      "huge op 9",      "wrong-id txn",  "no-outcome txn", "wrong-result op 9",
      "too-few txn",    "too-many txn",  "twice txn",      "two-outcomes txn",
      "late txn",       "late commit",   "late-lie txn",   "deaf commit",
      "stop txn",       "flood txn",     "drip txn",       "blank txn",
      "deep txn",       "orphan txn"};
  for (const char* fault : faults) {
    SCOPED_TRACE(fault);
    RunOptions asked = options(bad(fault), WorkloadKind::General, 12);
    asked.workload.sessions = 1;
    asked.patience = patience_for(fault);
    expect_holds(asked);
    EXPECT_GT(report_.end.committed, 0u);
    EXPECT_LT(report_.end.committed, 12u);
  }
}

// However it comes.
TEST_F(ExecTest, AGoodAnswerIsTaken) {
  for (const char* how : {"complains txn", "long txn", "pieces txn 0"}) {
    RunOptions asked = options(bad(how), WorkloadKind::General, 12);
    asked.workload.sessions = 1;
    asked.patience = patience_for(how);
    expect_holds(asked);
    EXPECT_EQ(report_.end.committed, 12u) << how;
  }
}

// The only process is there but does nothing. A run that only a number of transactions ends must
// not wait for ever.
TEST_F(ExecTest, ADriverThatStopsForGoodEndsTheRun) {
  RunOptions asked = options(bad("stop txn 9 --threads"), WorkloadKind::General, 1'000'000);
  asked.seconds = 0;
  asked.patience = 500ms;
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("it did not answer in time"));
}

TEST_F(ExecTest, AnInterruptEndsTheWaitForADriver) {
  std::atomic<bool> stop{true};
  RunOptions asked = options(bad("silent setup 1"), WorkloadKind::General, 10);
  asked.stop = &stop;
  asked.patience = 100'000s;
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("setup: interrupted"));
}

TEST_F(ExecTest, ALostAnswerMakesAnUnknownTransaction) {
  for (const char* fault : {"kill-after txn", "unknown txn"}) {
    RunOptions asked = options(bad(fault), WorkloadKind::General, 20);
    asked.patience = patience_for(fault);
    expect_holds(asked);
    EXPECT_GT(report_.end.unknown, 0u) << fault;
  }
}

TEST_F(ExecTest, AnswersThatBreakTheProtocolAreTold) {
  RunOptions asked = options(bad("wrong-result txn"), WorkloadKind::General, 20);
  expect_holds(asked);
  EXPECT_THAT(report_.notes, testing::Contains(AllOf(HasSubstr("1 answer broke the protocol"),
                                                     HasSubstr("do not fit the operations"))));
}

TEST_F(ExecTest, ARowThatAScanReturnsTwiceBreaksTheProtocol) {
  RunOptions asked = options(bad("twice-row txn 0"), WorkloadKind::RangeBalanced, 40);
  asked.workload.keys = std::max<std::uint64_t>(info(WorkloadKind::RangeBalanced).keys, 10);
  const auto report = run(asked);
  const std::string told =
      report.ok() ? fmt::format("{}", fmt::join(report->notes, "\n")) : report.error().what;
  EXPECT_THAT(told, testing::ContainsRegex("a scan has the key [0-9]+ twice|wrong answer"));
}

TEST_F(ExecTest, AnAnswerWithAMemberTwiceBreaksTheProtocol) {
  RunOptions asked = options(bad("two-outcomes txn"), WorkloadKind::General, 20);
  expect_holds(asked);
  EXPECT_THAT(report_.notes,
              testing::Contains(AllOf(HasSubstr("1 answer broke the protocol"),
                                      HasSubstr("a map of its answer has \"outcome\" twice"))));
}

// A commit without the timestamps that were promised, or without an answer, has no place in the
// order; others may have read what it wrote. So there is no verdict by timestamps.
TEST_F(ExecTest, NoVerdictByTimestampsIfSomeAreMissing) {
  for (const char* fault : {"no-times txn", "kill-after txn"}) {
    RunOptions asked = options(bad(fault), WorkloadKind::General, 20);
    asked.workload.read_share = 0;
    asked.evidence = true;
    const auto report = run(asked);
    ASSERT_FALSE(report.ok()) << fault;
    EXPECT_THAT(report.error().what, HasSubstr("no verdict by timestamps"));
  }
}

// They are mistakes of the driver, and would look like violations of the database.
TEST_F(ExecTest, TimestampsThatCannotBeAreAnErrorThatNamesThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"late-start txn", "to \"txn\": \"commit_ts\" 5 is before \"start_ts\" 1000000"},
      {"late-start commit", "to \"commit\": \"commit_ts\" 5 is before \"start_ts\" 1000000"},
      {"one-time txn 0", "\"commit_ts\" 7 is that of another transaction that wrote the key"},
  };
  for (const auto& [fault, what] : cases) {
    RunOptions asked = options(bad(fault), WorkloadKind::General, 20);
    asked.workload.read_share = 0;
    asked.evidence = true;
    const auto report = run(asked);
    ASSERT_FALSE(report.ok()) << fault;
    EXPECT_THAT(report.error().what,
                AllOf(HasSubstr("exec:/usr/bin/python3 "), HasSubstr("broke the protocol"),
                      HasSubstr(what), HasSubstr("no verdict by timestamps")))
        << fault;
  }
}

// Writers of different keys may share a timestamp, but not all of them.
TEST_F(ExecTest, OneTimestampForAllIsAnError) {
  RunOptions asked = options(bad("one-time txn 0"), WorkloadKind::General, 5);
  asked.workload.keys = 1'000'000;
  asked.workload.read_share = 0;
  asked.workload.ops_per_txn = 1;
  asked.evidence = true;
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(
      report.error().what,
      HasSubstr("all transactions that wrote have \"commit_ts\" 7, so there is no verdict"));
}

TEST_F(ExecTest, ARunThatCommitsNothingIsAnError) {
  for (const char* fault : {"fails txn 0", "wrong-outcome begin 0"}) {
    const auto report = run(options(bad(fault), WorkloadKind::General, 20));
    ASSERT_FALSE(report.ok()) << fault;
    EXPECT_THAT(report.error().what, HasSubstr("no transaction committed, so nothing was tested"));
  }
  const std::string junit = (folder_ / "junit.xml").string();
  const Ran ran = run_program({kOuroBinary, "run", bad("fails txn 0"), "-n", "20", "--undecided",
                               "pass", "--junit", junit});
  EXPECT_EQ(ran.status, 254);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(slurp(junit),
              AllOf(HasSubstr("errors=\"1\""), HasSubstr("no transaction committed")));
}

// What a driver says reaches the terminal of whoever runs it.
TEST_F(ExecTest, ControlCharactersOfTheDriverAreShownEscaped) {
  const auto failed = run(options(bad("fails txn 0"), WorkloadKind::General, 20));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().what, HasSubstr("red \\x1b[m")) << "digits are left out";
  const auto named = run(options(bad("name hello 1"), WorkloadKind::General, 20));
  ASSERT_TRUE(named.ok()) << named.error().what;
  EXPECT_THAT(named->database, testing::StartsWith("ev\\x1b[31mil, "));
  const auto ended = run(options("exec:printf 'a\\033[2J' >&2; exit 3", WorkloadKind::General, 20));
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().what, HasSubstr("a\\x1b[2J"));
}

TEST_F(ExecTest, WhatGoesWrongBeforeTheRunIsAnError) {
  const std::pair<std::string, const char*> cases[] = {
      {"exec:", "names no command"},
      {"exec:exit 3", "it ended with status 3"},
      {"exec:echo sorry >&2; exit 3", "sorry"},
      {"exec:/no/such/program", "it ended with status 127"},
      {"exec:cat", "has no \"name\""},
      {"exec:sleep 100", "it did not answer in time"},
      {"exec:yes", "it wrote what is no JSON object: y"},
      {"exec:true", "it ended with status 0"},
      {"exec:kill -9 $$", "it was ended by signal 9"},
      {"exec:cat /dev/zero", "it wrote a line of more than 16 MiB"},
      {bad("protocol hello 1"), "it speaks protocol 99; this ouro speaks 1"},
      {bad("ability hello 1"), "\"can\" has \"miracles\"; there are: registers, lists"},
      {bad("level hello 1"), "\"promises\" is 'y', which is no level"},
      {bad("isolation hello 1"), "an isolation is called 's\\x1b[2J', which has control"},
      {bad("no-levels hello 1"), "it needs one level or more"},
      {bad("no-name hello 1"), "has no \"name\""},
      {bad("exit setup 1"), "setup: it ended with status 3"},
      {bad("silent setup 1"), "setup: it did not answer in time"},
      {bad("exit open 1"), "open: it ended with status 3"},
  };
  for (const auto& [url, what] : cases) {
    RunOptions asked = options(url, WorkloadKind::Bank, 40);
    asked.patience = patience_for(url);
    const auto report = run(asked);
    ASSERT_FALSE(report.ok()) << url;
    EXPECT_THAT(report.error().what, HasSubstr(what)) << url;
  }
}

TEST_F(ExecTest, ADriverThatNeverCommitsIsAnErrorAndNoVerdict) {
  RunOptions asked = options(bad("exit txn 1"), WorkloadKind::General, 4);
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("the driver ended"));
}

// With the only process the database may be gone, so the run cannot go on, however long it is.
TEST_F(ExecTest, TheEndOfAProcessThatServesAllEndsTheRun) {
  RunOptions asked = options(bad("kill txn 9 --threads"), WorkloadKind::General, 1'000'000);
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("it was ended by signal 9"));
  EXPECT_TRUE(read_history(asked.history).ok());
}

TEST_F(ExecTest, AnIsolationOrEvidenceThatTheDriverLacksIsRefused) {
  RunOptions asked = options(reference("sqlite"), WorkloadKind::General, 10);
  asked.isolation = "chaos";
  const auto level = claimed_level(asked);
  ASSERT_FALSE(level.ok());
  EXPECT_THAT(level.error().what, HasSubstr("no isolation 'chaos'; there are: serializable"));
  asked.isolation.clear();
  asked.url = bad("no-evidence hello 1");
  asked.evidence = true;
  const auto report = run(asked);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().what, HasSubstr("gives no evidence"));
}

TEST_F(ExecTest, TheCommandLineEndsWithAnError) {
  const Ran ran = run_program({kOuroBinary, "run", "exec:exit 3", "--patience", "1"});
  EXPECT_EQ(ran.status, 254);
  EXPECT_THAT(ran.err, HasSubstr("ouro: exec:exit 3: hello: it ended with status 3"));
}

// What the program says on its standard error is left with what a violated run leaves.
TEST_F(ExecTest, AViolatedRunKeepsTheLogOfTheDriver) {
  const std::string folder = (folder_ / "kept").string();
  const Ran ran = run_program({kOuroBinary, "run",
                               "exec:echo 'hello from the driver' >&2; exec " +
                                   reference("sqlite").substr(std::string("exec:").size()),
                               "-q", "-n", "20", "--shows", "thin-air-read", "--keep", folder});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(slurp(fs::path(folder) / "driver.log"), HasSubstr("hello from the driver\n"));
}

std::string complaints_about(const std::string& url) {
  const auto trial = try_driver(url.substr(std::string("exec:").size()), 60s);
  if (!trial.ok()) return trial.error().what;
  std::string wrong;
  for (const DriverFinding& finding : trial->findings) {
    if (!finding.good) wrong += finding.what + '\n';
  }
  return wrong;
}

TEST(DriverTrialTest, TheReferenceDriverPasses) {
  for (const char* how : {"sqlite", "sqlite --steps --threads"}) {
    EXPECT_EQ(complaints_about(reference(how)), "") << how;
  }
}

// A wrong answer to each kind of message, and what is said about it.
TEST(DriverTrialTest, EveryMistakeIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense hello 1", "hello: it wrote what is no JSON object: Traceback"},
      {"wrong-outcome setup 1", "setup: the driver gave no reason"},
      {"text-id open 1", "open: an answer has no \"id\""},
      {"wrong-outcome begin 1", "\"outcome\" is none of aborted, failed, lost"},
      {"wrong-result op 1", "no good \"result\" of [\"r\",1]"},
      {"no-outcome commit 1", "\"outcome\" is none of committed, aborted, failed, unknown"},
      {"wrong-outcome rollback 1", "undo: rollback: wrong answer of the driver"},
      {"too-few txn 1", "\"results\" do not fit the operations"},
      {"no-times commit 1", "it has no \"start_ts\""},
      {"exit end 1", "end: exec:"},
      {"keeps-rollback", "r of what was rolled back: it is 12, but should be 11"},
      {"open-scan", "scan, both bounds included: it is [[1,11]], but should be [[1,11][3,-33]]"},
      {"no-append", "r in the order of appends: it is [], but should be [12,7]"},
      {"count-null", "aggregate count of no row: it is null, but should be 0"},
      {"no-delete", "r after d: it is -33, but should be null"},
  };
  for (const auto& [fault, what] : cases) {
    EXPECT_THAT(complaints_about(bad(fault)), HasSubstr(what)) << fault;
  }
}

TEST(DriverTrialTest, TheCommandTellsWhatIsWrong) {
  const std::string good = reference("sqlite").substr(5);
  const Ran right = run_program({kOuroBinary, "driver-test", good});
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, HasSubstr("ok     serializable, registers: scan: begin"));
  const Ran wrong = run_program({kOuroBinary, "driver-test", "-q", bad("no-delete").substr(5)});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, testing::StartsWith("WRONG  serializable, registers: r after d"));
  EXPECT_EQ(run_program({kOuroBinary, "driver-test", "exit 3"}).status, 254);
}

// One process serves several threads: answers may come in any order.
TEST(ExecChildTest, AnswersFindTheirQuestions) {
  const std::string swap =
      "while read a && read b; do"
      " i=${a#*:}; i=${i%%,*}; j=${b#*:}; j=${j%%,*};"
      " echo \"{\\\"id\\\":$j,\\\"to\\\":$j}\"; echo \"{\\\"to\\\":$i,\\\"id\\\":$i}\"; done";
  const auto child = db::ExecChild::start(swap, fs::path(testing::TempDir()) / "exec_child.log");
  ASSERT_TRUE(child.ok()) << child.error().to_string();
  std::barrier both(2);
  std::vector<std::thread> threads;
  for (int client = 0; client < 2; ++client) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        JsonTree answer;
        const auto outcome =
            (*child)->ask("\"do\":\"x\"", std::chrono::steady_clock::now() + 60s, answer);
        EXPECT_TRUE(outcome.ok()) << outcome.what;
        EXPECT_EQ(answer.root().member("id").integer(), answer.root().member("to").integer());
        both.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ExecChildTest, AProcessThatDoesNotReadIsLate) {
  const auto child =
      db::ExecChild::start("sleep 100", fs::path(testing::TempDir()) / "exec_child.log");
  ASSERT_TRUE(child.ok());
  JsonTree answer;
  const std::string huge = "\"x\":\"" + std::string(1 << 20, 'x') + '"';
  const auto outcome = (*child)->ask(huge, std::chrono::steady_clock::now() + 50ms, answer);
  EXPECT_FALSE(outcome.ok());
  EXPECT_TRUE((*child)->broken()) << "half a request was written";
}

}  // namespace
}  // namespace ouro
