#include "check/polygraph/rehearsal.h"

#include <gtest/gtest.h>

#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro {
namespace {

// 20 keys are written again and again with seven values, and lines are not quite as transactions
// committed: without a rehearsal most of these searches end after minutes, or never.
TEST(RehearsalTest, FindsTheOrderOfRecordedHistoriesWhoseValuesRepeat) {
  for (const Level level : {Level::SessionSerializable, Level::SessionSi}) {
    GenerateOptions options;
    options.txns = 400;
    options.keys = 20;
    options.duplicates = true;
    options.store = level;
    const auto history = generate(options);
    ASSERT_TRUE(history.ok());
    const auto verdict = check(*history, level);
    ASSERT_TRUE(verdict.ok());
    EXPECT_EQ(verdict->outcome, Outcome::Holds);
    EXPECT_FALSE(verdict->sources.empty());
  }
}

}  // namespace
}  // namespace ouro
