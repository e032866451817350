#include "serve/event_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/files.h"
#include "tests/serve_process.h"

namespace ouro::serving {
namespace {

std::string line_of(std::uint64_t number) {
  return fmt::format(
      R"({{"event":{},"kind":"violation","anomaly":"a","headline":"h{}","reported":1}})"
      "\n",
      number, number % 7);
}

class EventLogTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = 2'000;  // About 22 lines.

  void open() {
    log_ = std::make_unique<EventLog>();
    const Status opened = log_->open(path_, kLimit);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  }
  void tell_until(std::uint64_t number) {
    while (log_->last() < number) {
      const std::string line = line_of(log_->last() + 1);
      ASSERT_TRUE(log_->write(line).ok());
      log_->add(line);
      if (!log_->is_full()) continue;
      ASSERT_TRUE(log_->drop_older().ok());
    }
  }
  void expect_all_readable() {
    for (std::uint64_t number = log_->first(); number <= log_->last(); ++number) {
      ASSERT_EQ(log_->read(number), line_of(number));
    }
  }

  ScratchFolder folder_;
  const std::string path_ = folder_ / "events.ndjson";
  const std::string older_ = folder_ / "events.old.ndjson";
  std::unique_ptr<EventLog> log_;
};

TEST_F(EventLogTest, KeepsTheLatestWithinItsLimitWheneverItIsOpenedAgain) {
  for (std::uint64_t last = 0; last < 300; last += 7) {
    open();
    ASSERT_EQ(log_->last(), last);
    expect_all_readable();
    tell_until(last + 7);
    expect_all_readable();
    const std::uint64_t kept = log_->last() - log_->first() + 1;
    EXPECT_GE(kept, std::min<std::uint64_t>(last + 7, 10));
    EXPECT_LE(kept, 30);
    log_ = nullptr;
    EXPECT_LE(std::filesystem::file_size(path_), kLimit / 2 + 100);
  }
}

TEST_F(EventLogTest, ALineThatWasCutOffIsWrittenAgain) {
  open();
  tell_until(20);
  log_ = nullptr;
  std::ofstream(path_, std::ios::app) << line_of(21).substr(0, 30);
  open();
  EXPECT_EQ(log_->last(), 20);
  tell_until(22);
  log_ = nullptr;
  open();
  EXPECT_EQ(log_->last(), 22);
  expect_all_readable();
}

TEST_F(EventLogTest, ACrashWhileTheOlderFileIsReplacedLosesNothing) {
  open();
  tell_until(10);
  log_ = nullptr;
  std::filesystem::rename(path_, older_);  // The crash comes before a new file is begun.
  open();
  EXPECT_EQ(log_->first(), 1);
  EXPECT_EQ(log_->last(), 10);
  EXPECT_EQ(log_->last_of_older(), 10);
  tell_until(12);
  expect_all_readable();
}

TEST_F(EventLogTest, RefusesFilesThatDoNotBelongTogether) {
  open();
  tell_until(40);
  log_ = nullptr;
  std::filesystem::remove(older_);
  EXPECT_FALSE(EventLog().open(path_, kLimit).ok());
  std::ofstream(path_, std::ios::trunc) << "something else\n";
  EXPECT_FALSE(EventLog().open(path_, kLimit).ok());
}

}  // namespace
}  // namespace ouro::serving
