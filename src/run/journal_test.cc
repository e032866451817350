#include "run/journal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
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

// Waits until `path` says `expected`, for the undertaker works after the death of its parent.
std::string settled(const std::string& path, const std::string& expected) {
  for (int i = 0; i < 20'000 && slurp(path) != expected; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return slurp(path);
}

TEST(JournalTest, HoldsEveryLineOfEveryClientInItsOrder) {
  const std::string path = temporary("journal-all");
  constexpr std::size_t kClients = 4;
  constexpr int kLines = 20'000;
  {
    auto journal = Journal::create(path, kClients);
    ASSERT_TRUE(journal.ok()) << journal.error().to_string();
    std::vector<std::thread> threads;
    for (std::size_t client = 0; client < kClients; ++client) {
      threads.emplace_back([&, client] {
        for (int i = 0; i < kLines; ++i) {
          (*journal)->announce(client, "unknown\n");
          (*journal)->add(client, fmt::format("{} {} {}\n", client, i, std::string(40, 'x')));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE((*journal)->close().ok());
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

TEST(JournalTest, NumbersLinesAndTakesLinesLargerThanItsMemory) {
  const std::string path = temporary("journal-large");
  const std::string large(20 * 1024 * 1024, 'y');
  {
    auto journal = Journal::create(path, 1);
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ((*journal)->add(0, "a\n"), 0u);
    EXPECT_EQ((*journal)->add(0, large + "\n"), 1u);
    EXPECT_EQ((*journal)->add(0, "b\nc\n", 2), 2u);
    EXPECT_EQ((*journal)->add(0, "d\n"), 4u);
  }
  EXPECT_TRUE(slurp(path) == "a\n" + large + "\nb\nc\nd\n");
  std::filesystem::remove(path);
}

TEST(JournalTest, WhatCannotBeWrittenIsAnError) {
  const auto journal = Journal::create("/no/such/folder/x.jsonl", 1);
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().to_string(), testing::HasSubstr("/no/such/folder/x.jsonl"));
  auto full = Journal::create("/dev/full", 1);
  ASSERT_TRUE(full.ok());
  (*full)->add(0, "x\n");
  EXPECT_FALSE((*full)->close().ok());
}

// A process that is killed leaves what it added, and what it announced but did not add.
TEST(JournalTest, SurvivesTheDeathOfTheProcess) {
  for (int round = 0; round < 20; ++round) {
    const std::string path = temporary("journal-killed");
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::create(path, 3);
      for (int i = 0; i < 50 * round; ++i) (*journal)->add(0, "line\n");
      (*journal)->announce(0, "unknown 0\n");
      (*journal)->announce(1, "unknown 1\n");
      (*journal)->announce(2, "unknown 2\n");
      (*journal)->add(1, "added 1\n");
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

}  // namespace
}  // namespace ouro::running
