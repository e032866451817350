#include "run/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/files.h"

namespace ouro::running {
namespace {

// Waits until the content of `path` is `expected`, since the undertaker writes after the death of
// its parent. Returns the content.
std::string settled(const std::string& path, const std::string& expected) {
  for (int i = 0; i < 20'000 && slurp(path) != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return slurp(path);
}

TEST(HistoryFileTest, HoldsEveryLineOfEveryClientInItsOrder) {
  const std::string path = temporary("file-all");
  constexpr std::size_t kClients = 4;
  constexpr int kLines = 20'000;
  {
    auto file = HistoryFile::create(path, kClients);
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    std::vector<std::thread> threads;
    for (std::size_t client = 0; client < kClients; ++client) {
      threads.emplace_back([&, client] {
        for (int i = 0; i < kLines; ++i) {
          (*file)->announce(client, "unknown\n");
          (*file)->add(client, fmt::format("{} {} {}\n", client, i, std::string(40, 'x')));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE((*file)->close().ok());
  }
  std::istringstream lines(slurp(path));
  std::vector<int> next(kClients, 0);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::istringstream words(line);
    std::size_t client = kClients;
    int number = -1;
    words >> client >> number;
    ASSERT_LT(client, kClients) << line;
    ASSERT_EQ(number, next[client]++) << line;
  }
  EXPECT_EQ(count, kClients * kLines);
  std::filesystem::remove(path);
}

TEST(HistoryFileTest, NumbersLinesAndTakesLinesLargerThanItsMemory) {
  const std::string path = temporary("file-large");
  const std::string large(20 * 1024 * 1024, 'y');
  {
    auto file = HistoryFile::create(path, 1);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ((*file)->add(0, "a\n"), 0u);
    EXPECT_EQ((*file)->add(0, large + "\n"), 1u);
    EXPECT_EQ((*file)->add(0, "b\nc\n", 2), 2u);
    EXPECT_EQ((*file)->add(0, "d\n"), 4u);
  }
  EXPECT_TRUE(slurp(path) == "a\n" + large + "\nb\nc\nd\n");
  std::filesystem::remove(path);
}

TEST(HistoryFileTest, WhatCannotBeWrittenIsAnError) {
  const auto file = HistoryFile::create("/no/such/folder/x.jsonl", 1);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().to_string(), testing::HasSubstr("/no/such/folder/x.jsonl"));
  auto full = HistoryFile::create("/dev/full", 1);
  ASSERT_TRUE(full.ok());
  (*full)->add(0, "x\n");
  EXPECT_FALSE((*full)->close().ok());
}

// A process that is killed leaves what it added, and what it announced but did not add.
TEST(HistoryFileTest, SurvivesTheDeathOfTheProcess) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = temporary("file-killed");
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = HistoryFile::create(path, 3);
      for (int i = 0; i < 50 * round; ++i) (*file)->add(0, "line\n");
      (*file)->announce(0, "unknown 0\n");
      (*file)->announce(1, "unknown 1\n");
      (*file)->announce(2, "unknown 2\n");
      (*file)->add(1, "added 1\n");
      ::kill(::getpid(), SIGKILL);
    }
    ASSERT_GT(child, 0);
    ::waitpid(child, nullptr, 0);
    std::string expected;
    for (int i = 0; i < 50 * round; ++i) expected += "line\n";
    expected += "added 1\nunknown 0\nunknown 2\n";
    ASSERT_EQ(settled(path, expected), expected);
    std::filesystem::remove(path);
  }
}

// Or whoever waits for the end of a pipe would wait until the run ends.
TEST(HistoryFileTest, KeepsNoDescriptorOfItsParentOpen) {
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit more { std::min<rlim_t>(4096, limit.rlim_max), limit.rlim_max };
  if (limit.rlim_cur < more.rlim_cur) {
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &more), 0);
  }
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int high = ::fcntl(ends[1], F_DUPFD, 1500);
  const std::string path = temporary("file-descriptors");
  auto file = HistoryFile::create(path, 1);
  ASSERT_TRUE(file.ok());
  ::close(ends[1]);
  if (high >= 0) ::close(high);
  struct pollfd waiting {
    ends[0], POLLIN, 0
  };
  EXPECT_EQ(::poll(&waiting, 1, 20'000), 1) << "the undertaker keeps the pipe open";
  EXPECT_TRUE((*file)->close().ok());
  ::close(ends[0]);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ouro::running
