#include "history/moment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro {
namespace {

TEST(MomentTest, AtEqualTimestampsCommitsThenWritersThenReadersThenBegins) {
  const Timestamp before{4, 0};
  const Timestamp now{5, 0};
  const Timestamp after{5, 1};
  const std::vector<std::pair<std::string, Moment>> in_order = {
      {"the commit of what began before", lifetime(before, now, true, 9).commit},
      {"a writer begins", lifetime(now, now, true, 3).begin},
      {"and commits", lifetime(now, now, true, 3).commit},
      {"the next writer begins", lifetime(now, now, true, 8).begin},
      {"and commits", lifetime(now, now, true, 8).commit},
      {"a reader begins", lifetime(now, now, false, 1).begin},
      {"and commits", lifetime(now, now, false, 1).commit},
      {"what commits later begins", lifetime(now, after, true, 0).begin},
      {"and commits", lifetime(now, after, true, 0).commit}};
  for (std::size_t i = 1; i < in_order.size(); ++i) {
    EXPECT_LT(in_order[i - 1].second, in_order[i].second) << in_order[i].first;
  }
  EXPECT_LT(Moment(), in_order[0].second);
}

TEST(MomentTest, AMomentKnowsWhatItIsOf) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 61) - 1;
  const Lifetime life = lifetime({1, 0}, {2, 7}, false, kLast);
  EXPECT_EQ(life.begin.number(), kLast);
  EXPECT_EQ(life.begin.tie(), Tie::Begin);
  EXPECT_EQ(life.commit.timestamp(), (Timestamp{2, 7}));
  EXPECT_EQ(lifetime({3, 0}, {2, 7}, false, 5).begin.timestamp(), (Timestamp{2, 7}));
}

class TxnMomentsTest : public testing::Test {
 protected:
  enum class Level { Serial, Snapshots };
  static TxnMoments moments(Timestamp start, Timestamp commit, bool writes,
                            TxnStatus status = TxnStatus::Committed,
                            Level level = Level::Snapshots) {
    HistoryBuilder b;
    b.begin_txn(b.session("s"));
    b.status(status);
    b.timestamps(start, commit);
    if (writes) b.write(b.key("x"), Value::small(1));
    const History history = *std::move(b).freeze();
    EXPECT_EQ(ouro::writes(history, TxnId{0}), writes);
    return moments_of(history, TxnId{0}, writes, 0, level == Level::Snapshots);
  }
};

TEST_F(TxnMomentsTest, WhoTakesPartAndWhatIsMissing) {
  const Timestamp one{1, 0};
  const Timestamp two{2, 0};
  EXPECT_TRUE(moments(one, two, true).known());
  EXPECT_TRUE(moments(kNoTimestamp, two, true).missing);
  EXPECT_TRUE(moments(kNoTimestamp, two, true, TxnStatus::Committed, Level::Serial).known());
  EXPECT_TRUE(moments(one, kNoTimestamp, true).missing);
  EXPECT_TRUE(moments(one, kNoTimestamp, false).known());  // It only reads, so needs no commit_ts.
  EXPECT_FALSE(moments(one, two, true, TxnStatus::Aborted).takes_part);
  EXPECT_FALSE(moments(one, kNoTimestamp, true, TxnStatus::Unknown).takes_part);
  EXPECT_TRUE(moments(one, two, true, TxnStatus::Unknown).known());
}

TEST_F(TxnMomentsTest, WhoStartsAfterTheCommitDoesBothThen) {
  const TxnMoments inverted = moments({3, 0}, {2, 0}, true);
  EXPECT_TRUE(inverted.inverted);
  EXPECT_EQ(inverted.begin.timestamp(), (Timestamp{2, 0}));
  EXPECT_FALSE(moments({2, 0}, {2, 0}, true).inverted);
}

}  // namespace
}  // namespace ouro
