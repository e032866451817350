// The histories that `make demo` checks.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "ouro/check.h"
#include "ouro/format.h"

namespace ouro {
namespace {

constexpr Outcome kHolds = Outcome::Holds;
constexpr Outcome kViolated = Outcome::Violated;
constexpr std::array kLevels = {Level::ReadCommitted, Level::ReadAtomic, Level::Causal};

// By file, the verdicts at kLevels.
const std::map<std::string, std::array<Outcome, 3>> kExpected = {
    {"aborted_read.jsonl", {kViolated, kViolated, kViolated}},
    {"bank.jsonl", {kHolds, kHolds, kHolds}},
    {"causality.jsonl", {kHolds, kHolds, kViolated}},
    {"feed_order.jsonl", {kViolated, kViolated, kViolated}},
    {"fractured_read.jsonl", {kHolds, kViolated, kViolated}},
    {"lost_update.jsonl", {kHolds, kHolds, kHolds}},
};

TEST(DemoHistoriesTest, EachSaysWhatItShowsAndHasItsVerdicts) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(OURO_SOURCE_DIR "/tests/data/demo")) {
    SCOPED_TRACE(entry.path());
    const auto expected = kExpected.find(entry.path().filename().string());
    ASSERT_NE(expected, kExpected.end());
    const Result<History> history = read_history(entry.path().string());
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    ASSERT_EQ(history->remarks().size(), 1u);
    EXPECT_EQ(history->remarks()[0].name, "about");
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      const Result<Verdict> verdict = check(*history, kLevels[i]);
      ASSERT_TRUE(verdict.ok()) << verdict.error().to_string();
      EXPECT_EQ(verdict->outcome, expected->second[i]) << info(kLevels[i]).name;
    }
    ++count;
  }
  EXPECT_EQ(count, kExpected.size());
}

}  // namespace
}  // namespace ouro
