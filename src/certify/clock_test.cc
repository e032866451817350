#include "certify/clock.h"

#include <gtest/gtest.h>

#include <limits>

#include "history/moment.h"
#include "history/real_time.h"
#include "ouro/history_builder.h"

namespace ouro::recheck {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ClockTest, RealTimeIsThatOfTheEnginesUpToTheLastClock) {
  constexpr std::int64_t kClocks[] = {kLeast, kLeast + 1, -9'000'000'000'000'000'000, -1,   0,
                                      1,      7,          9'000'000'000'000'000'000,  kMost};
  for (const std::int64_t completed : kClocks) {
    for (const std::int64_t invoked : kClocks) {
      for (const std::int64_t drift : {std::int64_t{0}, std::int64_t{6}, kMost / 9, kMost}) {
        EXPECT_EQ(precedes_in_time(completed, invoked, drift),
                  completed_before(completed, invoked, drift))
            << completed << " " << invoked << " " << drift;
      }
    }
  }
}

// Compares all pairs of eight kinds of transactions at and around one timestamp.
TEST(ClockTest, MomentsStandInTheOrderOfTheEngines) {
  struct Kind {
    Timestamp start, commit;
    bool writes;
  };
  std::vector<Kind> kinds;
  for (const bool writes : {false, true}) {
    for (const std::int64_t start : {4, 5, 6}) {
      for (const std::int64_t commit : {5, 6}) kinds.push_back({{start, 0}, {commit, 0}, writes});
    }
  }
  for (std::uint32_t a = 0; a < kinds.size(); ++a) {
    for (std::uint32_t b = 0; b < kinds.size(); ++b) {
      const Kind& one = kinds[a];
      const Kind& two = kinds[b];
      const Lifetime first = lifetime(one.start, one.commit, one.writes, a);
      const Lifetime second = lifetime(two.start, two.commit, two.writes, b);
      const Clock::Stamps mine{one.start, one.commit, one.writes};
      const Clock::Stamps other{two.start, two.commit, two.writes};
      EXPECT_EQ(Clock::commit_of(mine, TxnId{a}) < Clock::begin_of(other, TxnId{b}),
                first.commit < second.begin);
      EXPECT_EQ(Clock::commit_of(mine, TxnId{a}) < Clock::commit_of(other, TxnId{b}),
                first.commit < second.commit);
      EXPECT_EQ(Clock::begin_of(mine, TxnId{a}) < Clock::begin_of(other, TxnId{b}),
                first.begin < second.begin);
    }
  }
}

class ClockOfTest : public testing::Test {
 protected:
  void txn(TxnStatus status, Timestamp start, Timestamp commit, bool writes) {
    b_.begin_txn(b_.session("s"));
    b_.status(status);
    b_.timestamps(start, commit);
    if (writes) b_.write(b_.key("x"), b_.integer(static_cast<std::int64_t>(b_.op_count())));
  }
  HistoryBuilder b_;
};

TEST_F(ClockOfTest, WhoTakesPartAndWhoseMomentsAreKnown) {
  txn(TxnStatus::Committed, {1, 0}, {2, 0}, true);
  // Unknown: a writer must say when it commits.
  txn(TxnStatus::Committed, {3, 0}, kNoTimestamp, true);
  txn(TxnStatus::Committed, {3, 0}, kNoTimestamp, false);  // Known: a reader need not.
  txn(TxnStatus::Aborted, {3, 0}, {4, 0}, true);
  txn(TxnStatus::Unknown, {3, 0}, kNoTimestamp, true);
  txn(TxnStatus::Unknown, {5, 0}, {4, 0}, true);
  const History h = *std::move(b_).freeze();
  const Clock clock(h, rules_of(Level::Si));
  const bool takes_part[] = {true, true, true, false, false, true};
  const bool known[] = {true, false, true, false, false, true};
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    EXPECT_EQ(clock.takes_part(TxnId{t}), takes_part[t]) << t;
    EXPECT_EQ(clock.is_known(TxnId{t}), known[t]) << t;
  }
  EXPECT_EQ(clock.known(), 3u);
  EXPECT_TRUE(clock.is_inverted(TxnId{5}));
  EXPECT_FALSE(clock.is_inverted(TxnId{0}));
  EXPECT_TRUE(clock.sees(TxnId{2}, TxnId{0}));
  EXPECT_FALSE(clock.sees(TxnId{0}, TxnId{2}));
  EXPECT_FALSE(clock.sees(TxnId{0}, TxnId{0}));
  EXPECT_EQ(clock.begin(TxnId{5}).at, (Timestamp{4, 0}));  // It does both at its commit.
}

}  // namespace
}  // namespace ouro::recheck
