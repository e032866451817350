#include "stream/twin.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

namespace ouro::stream {
namespace {

Status wait_for(Twin& twin) {
  while (true) {
    if (auto ended = twin.ended()) return *ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string content(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return text;
}

TEST(TwinTest, WritesWhatWasThereWhenItBegan) {
  const std::string file = testing::TempDir() + "ouro_twin_" + std::to_string(getpid());
  std::vector<int> numbers(1'000'000, 3);
  std::atomic<bool> ends = false;
  // This thread allocates all the time, so fork() may happen while it holds a lock of the
  // allocator. The copy must not wait for that lock.
  std::thread other([&] {
    while (!ends) std::vector<int>(1'000).swap(*std::make_unique<std::vector<int>>());
  });
  for (int round = 0; round < 20; ++round) {
    Twin twin;
    ASSERT_TRUE(twin.begin([&]() -> Status {
      long sum = 0;
      for (const int number : numbers) sum += number;
      std::ofstream(file) << sum;
      return {};
    }));
    EXPECT_TRUE(twin.at_work());
    for (int& number : numbers) number += 1;
    const Status status = wait_for(twin);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    EXPECT_FALSE(twin.at_work());
    EXPECT_EQ(content(file), std::to_string((round + 3) * 1'000'000L));
  }
  ends = true;
  other.join();
  std::filesystem::remove(file);
}

TEST(TwinTest, TellsWhatWentWrong) {
  Twin twin;
  ASSERT_TRUE(twin.begin([]() -> Status {
    Error error;
    error.file = "some/file";
    error.what = "cannot be written: the disk is full";
    return error;
  }));
  EXPECT_EQ(wait_for(twin).error().to_string(), "some/file: cannot be written: the disk is full");
  ASSERT_TRUE(twin.begin([]() -> Status { throw std::bad_alloc(); }));
  EXPECT_EQ(wait_for(twin).error().what, std::bad_alloc().what());
  ASSERT_TRUE(twin.begin([]() -> Status { _exit(0); }));
  EXPECT_FALSE(wait_for(twin).ok());
}

TEST(TwinTest, IsStoppedByItsOwnerOnly) {
  const auto begun = std::chrono::steady_clock::now();
  for (int round = 0; round < 3; ++round) {
    Twin twin;
    ASSERT_TRUE(twin.begin([]() -> Status {
      raise(SIGINT);
      raise(SIGTERM);
      std::this_thread::sleep_for(std::chrono::minutes(10));
      return {};
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(twin.ended().has_value());
    if (round == 2) continue;
    twin.stop();
    EXPECT_FALSE(twin.at_work());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::minutes(5));
}

}  // namespace
}  // namespace ouro::stream
