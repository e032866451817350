#include "base/meter.h"

#include <gtest/gtest.h>

#include <thread>

namespace ouro {
namespace {

// Lets time pass, so that it can be told from none.
void pass() {
  const auto began = Budget::Clock::now();
  while (Budget::Clock::now() - began < std::chrono::microseconds(50)) std::this_thread::yield();
}

TEST(MeterTest, TimeOfAnInnerStageIsNotTheOuterOnes) {
  Meter meter;
  const auto began = Budget::Clock::now();
  {
    const StageTimer outer(&meter, Stage::Search);
    pass();
    {
      StageTimer inner(&meter, Stage::Encode);
      pass();
      inner.turn_to(Stage::Order);
      pass();
    }
    pass();
  }
  const double all = std::chrono::duration<double>(Budget::Clock::now() - began).count();
  const Effort effort = meter.effort();
  double sum = 0;
  for (const double seconds : effort.seconds) sum += seconds;
  EXPECT_LE(sum, all);
  EXPECT_GT(effort.seconds_of(Stage::Search), 0);
  EXPECT_GT(effort.seconds_of(Stage::Encode), 0);
  EXPECT_GT(effort.seconds_of(Stage::Order), 0);
  EXPECT_EQ(effort.seconds_of(Stage::Join), 0);
}

TEST(MeterTest, PartsOfABudgetHaveItsMeter) {
  Meter meter;
  Budget whole;
  whole.measure_with(&meter);
  const Budget part(whole, 4);
  const Budget turn(part, Steps{1000});
  const Budget apart;
  EXPECT_EQ(turn.meter(), &meter);
  EXPECT_EQ(apart.meter(), nullptr);
  const StageTimer nothing(nullptr, Stage::Join);
}

TEST(MeterTest, OfSeveralSearchesSizesAreTheLargestAndTheRestAddsUp) {
  Meter meter;
  meter.add(SearchCounts{.searches = 1, .nodes = 10, .choices = 3, .conflicts = 1});
  meter.add(SearchCounts{.searches = 1, .nodes = 4, .choices = 2});
  const SearchCounts counts = meter.effort().search;
  EXPECT_EQ(counts.searches, 2U);
  EXPECT_EQ(counts.nodes, 10U);
  EXPECT_EQ(counts.choices, 5U);
  EXPECT_EQ(counts.conflicts, 1U);
}

}  // namespace
}  // namespace ouro
