#include "history/real_time.h"

#include <gtest/gtest.h>

#include <vector>

#include "ouro/history.h"
#include "ouro/history_builder.h"

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

TEST(RealTimeTest, TheFirstWhoseClocksGoBackIsFound) {
  using Column = std::vector<std::int64_t>;
  const Column invoked = {1, kNoClock, 5, 7, 9};
  const auto first = [](const Column& i, const Column& b, const Column& c, const Column& done) {
    const auto found = first_clock_disorder({i, b, c, done});
    return found ? std::optional(found->txn) : std::nullopt;
  };
  EXPECT_EQ(first(invoked, {}, {}, {}), std::nullopt);
  EXPECT_EQ(first({}, {}, {}, invoked), std::nullopt);
  EXPECT_EQ(first(invoked, invoked, invoked, invoked), std::nullopt);
  EXPECT_EQ(first(invoked, {}, {}, {1, -5, kNoClock, 6, 0}), 3u);
  EXPECT_EQ(first(invoked, {}, {1, -5, kNoClock, 6, 0}, {}), 3u);
  EXPECT_EQ(first(invoked, {2, 2, 5, 7, 9}, {2, 1, 5, 7, 9}, {}), 1u);
}

TEST(RealTimeTest, BeginsAndCommitsLieWithinTheTransactionUnlessMoreIsKnown) {
  HistoryBuilder b;
  b.begin_txn(b.session("a"));
  b.clocks(1, 9);
  b.begin_txn(b.session("a"));
  b.clocks(11, 19);
  b.inner_clocks(12, 18);
  const History history = *std::move(b).freeze();
  EXPECT_EQ(begun_by(history, TxnId{0}), 9);
  EXPECT_EQ(commit_asked(history, TxnId{0}), 1);
  EXPECT_EQ(begun_by(history, TxnId{1}), 12);
  EXPECT_EQ(commit_asked(history, TxnId{1}), 18);
}

}  // namespace
}  // namespace ouro
