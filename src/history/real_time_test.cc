#include "history/real_time.h"

#include <gtest/gtest.h>

#include <vector>

#include "ouro/history.h"

namespace ouro {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kClocks[] = {kLeast, kLeast + 1, kLeast / 2, -2,        -1,   0,
                                    1,      2,          kMost / 2,  kMost - 1, kMost};
constexpr std::int64_t kDrifts[] = {0, 1, 2, kMost / 2, kMost - 1, kMost};

TEST(RealTimeTest, ClocksOfAnySizeAreComparedAsWithoutALimit) {
  for (const std::int64_t completed : kClocks) {
    for (const std::int64_t invoked : kClocks) {
      for (const std::int64_t drift : kDrifts) {
        const bool before = Wide{completed} + drift < Wide{invoked};
        ASSERT_EQ(completed_before(completed, invoked, drift), before)
            << completed << " " << invoked << " " << drift;
        const auto first = first_invoked_behind(completed, drift);
        ASSERT_EQ(first && invoked >= *first, before) << completed << " " << invoked;
        const auto last = last_completed_before(invoked, drift);
        ASSERT_EQ(last && completed <= *last, before) << completed << " " << invoked;
      }
    }
  }
}

TEST(RealTimeTest, TheFirstThatCompletedBeforeItWasInvokedIsFound) {
  const std::vector<std::int64_t> invoked = {1, kNoClock, 5, 7, 9};
  EXPECT_EQ(first_inverted(invoked, {}), std::nullopt);
  EXPECT_EQ(first_inverted({}, invoked), std::nullopt);
  EXPECT_EQ(first_inverted(invoked, invoked), std::nullopt);
  EXPECT_EQ(first_inverted(invoked, std::vector<std::int64_t>{1, -5, kNoClock, 6, 0}), 3u);
}

}  // namespace
}  // namespace ouro
