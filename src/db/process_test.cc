#include "db/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace ouro::db {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

Program shell(const std::string& script, const fs::path& log = {}) {
  return {.words = {"/bin/sh", "-c", script}, .log = log};
}

bool alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return false;
  return line[line.rfind(')') + 2] != 'Z';
}

char state(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  return line.empty() ? '?' : line[line.rfind(')') + 2];
}

// Waits until `condition` holds; false if it does not within 20 s.
template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// The numbers in a file, once it has `count` of them.
std::vector<pid_t> read_pids(const fs::path& file, std::size_t count) {
  std::vector<pid_t> pids;
  (void)eventually([&] {
    std::ifstream in(file);
    pids.clear();
    for (pid_t pid = 0; in >> pid;) pids.push_back(pid);
    return pids.size() >= count;
  });
  return pids;
}

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() : scratch_(*make_scratch("")) {}
  [[nodiscard]] fs::path file(const char* name) const { return scratch_.path() / name; }
  TemporaryFolder scratch_;
};

// A script whose processes are hard to catch: the second is in a session of its own, an orphan, and
// ignores SIGTERM. Both append their process ids to the file `pids`.
std::string hard_to_catch(const fs::path& pids) {
  return "echo $$ >>" + pids.string() +
         "; (trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; echo $$ >>" + pids.string() +
         "; sleep 1000; sleep 1000' &) ; sleep 1000";
}

TEST_F(ProcessTest, TheStatusOfAProgramIsKnown) {
  Result<Process> process = Process::start(shell("exit 7"));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->wait(20s), 7);
  EXPECT_FALSE(process->running());
  process = Process::start(shell("kill -KILL $$"));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->wait(20s), 128 + SIGKILL);
}

TEST_F(ProcessTest, AProgramThatCannotBeStartedIsNamed) {
  const Result<Process> process = Process::start({.words = {"/no/such/program"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().what, HasSubstr("/no/such/program: No such file"));
}

TEST_F(ProcessTest, AFailedProgramIsReportedWithItsLastLines) {
  const Status failed =
      run_program(shell("echo one; echo two; echo three; echo four; exit 3", file("log")), 20s);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().what, HasSubstr("status 3: two; three; four"));
  EXPECT_TRUE(run_program(shell("exit 0", file("log")), 20s).ok());
  EXPECT_THAT(run_program(shell("sleep 1000", file("log")), 50ms).error().what,
              HasSubstr("took too long"));
  const std::atomic<bool> cancelled = true;
  EXPECT_THAT(run_program(shell("sleep 1000", file("log")), 20s, &cancelled).error().what,
              HasSubstr("interrupted"));
}

TEST_F(ProcessTest, KillingEndsEverythingThatWasStarted) {
  Result<Process> process = Process::start(shell(hard_to_catch(file("pids"))));
  ASSERT_TRUE(process.ok());
  const std::vector<pid_t> pids = read_pids(file("pids"), 2);
  ASSERT_EQ(pids.size(), 2u);
  EXPECT_TRUE(alive(pids[0]) && alive(pids[1]));
  process->kill();
  EXPECT_FALSE(alive(pids[0]));
  EXPECT_FALSE(alive(pids[1]));
}

TEST_F(ProcessTest, WhatAProgramLeavesBehindEndsWithIt) {
  Result<Process> process = Process::start(
      shell("setsid sh -c 'echo $$ >" + file("pids").string() + "; sleep 1000' & sleep 0.2"));
  ASSERT_TRUE(process.ok());
  const std::vector<pid_t> pids = read_pids(file("pids"), 1);
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_EQ(process->wait(20s), 0);
  EXPECT_FALSE(alive(pids[0]));
}

TEST_F(ProcessTest, PausingStopsTheWholeTree) {
  Result<Process> process = Process::start(shell(hard_to_catch(file("pids"))));
  ASSERT_TRUE(process.ok());
  const std::vector<pid_t> pids = read_pids(file("pids"), 2);
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) ASSERT_TRUE(eventually([&] { return state(pid) == 'S'; })) << pid;
  process->pause();
  for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return state(pid) == 'T'; })) << pid;
  process->resume();
  for (const pid_t pid : pids) EXPECT_TRUE(eventually([&] { return state(pid) == 'S'; })) << pid;
  process->pause();
  process->kill();
  for (const pid_t pid : pids) EXPECT_FALSE(alive(pid));
}

// Whatever signal ends us, nothing remains: not the program, nor its orphans, nor its directory.
TEST_F(ProcessTest, NothingOutlivesAParentThatIsKilled) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // To see the orphaned supervisors end.
  for (const int how : {SIGKILL, SIGINT, SIGSEGV}) {
    const fs::path scratch = scratch_.path() / "server";
    fs::create_directory(scratch);
    const fs::path pids_file = file("pids");
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      ::signal(how, SIG_DFL);
      Program program = shell(hard_to_catch(pids_file));
      program.scratch = {scratch};
      Result<Process> first = Process::start(program);
      Result<Process> second = Process::start(program);  // Must not keep the first one's pipe open.
      for (;;) ::pause();
    }
    const std::vector<pid_t> pids = read_pids(pids_file, 4);
    EXPECT_EQ(pids.size(), 4u);
    ::kill(parent, how);
    ::waitpid(parent, nullptr, 0);
    for (const pid_t pid : pids) {
      EXPECT_TRUE(eventually([&] { return !alive(pid); })) << pid << " survives signal " << how;
    }
    EXPECT_TRUE(eventually([&] { return !fs::exists(scratch); }));
    for (int i = 0; i < 2; ++i) EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
    fs::remove(pids_file);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(ProcessTest, AProgramEndsWithItsSupervisor) {
  Result<Process> process =
      Process::start(shell("echo $PPID >" + file("pids").string() + "; exec sleep 1000"));
  ASSERT_TRUE(process.ok());
  const std::vector<pid_t> supervisor = read_pids(file("pids"), 1);
  ASSERT_EQ(supervisor.size(), 1u);
  ::kill(supervisor[0], SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(process->pid()); }));
  EXPECT_FALSE(process->running());
}

TEST_F(ProcessTest, AnUnknownUserIsAnError) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the user";
  Program program = shell("exit 0");
  program.user = "no-such-user";
  EXPECT_THAT(Process::start(program).error().what, HasSubstr("no user 'no-such-user'"));
}

TEST_F(ProcessTest, AScratchFolderIsPrivateAndGoesAway) {
  fs::path path;
  {
    const Result<TemporaryFolder> scratch = make_scratch("");
    ASSERT_TRUE(scratch.ok());
    path = scratch->path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_LT(path.string().size(), 80u);
    std::ofstream(path / "x") << "y";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(FreePortTest, PortsDiffer) {
  const Result<int> first = free_port();
  const Result<int> second = free_port();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace ouro::db
