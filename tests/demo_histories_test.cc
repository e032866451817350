// The histories that `make demo` checks.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ouro/format.h"

namespace ouro {
namespace {

TEST(DemoHistoriesTest, EachLoadsAndSaysWhatItShows) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(OURO_SOURCE_DIR "/tests/data/demo")) {
    const Result<History> history = read_history(entry.path().string());
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_GE(history->txn_count(), 3u) << entry.path();
    ASSERT_EQ(history->columns().remarks.size(), 1u) << entry.path();
    EXPECT_EQ(history->columns().remarks[0].name, "about") << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 6);
}

}  // namespace
}  // namespace ouro
