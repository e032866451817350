#include "ouro/stats.h"

#include <gtest/gtest.h>

#include "ouro/history_builder.h"

namespace ouro {
namespace {

TEST(StatsTest, EmptyHistoryIsAllZeros) {
  const Stats stats = count(History());
  EXPECT_EQ(stats.txns, 0u);
  EXPECT_EQ(stats.ops_per_txn.max, 0u);
  EXPECT_FALSE(stats.most_read.key.valid());
}

TEST(StatsTest, CountsEverythingOnce) {
  HistoryBuilder b;
  const KeyId x = b.key("x");
  const KeyId l = b.key("l");
  b.begin_txn(b.session("a"));
  b.read(x, Value::null());
  b.write(x, b.integer(1));
  b.clocks(1, 2);
  b.begin_txn(b.session("a"));
  b.status(TxnStatus::Aborted);
  b.write(x, b.integer(2));
  b.write(x, b.integer(3));
  b.append(l, b.integer(1));
  b.timestamps({1, 0}, {2, 0});
  b.begin_txn(b.session("b"));
  b.status(TxnStatus::Unknown);
  b.name(b.integer(77));
  const Value versions[] = {b.integer(1)};
  b.version_order(x, versions, true);
  const History history = *std::move(b).freeze();

  const Stats stats = count(history);
  EXPECT_EQ(stats.sessions, 2u);
  EXPECT_EQ(stats.txns, 3u);
  EXPECT_EQ(stats.txns_by_status, (std::array<std::uint64_t, 3>{1, 1, 1}));
  EXPECT_EQ(stats.empty_txns, 1u);
  EXPECT_EQ(stats.ops, 5u);
  EXPECT_EQ(stats.ops_by_kind, (std::array<std::uint64_t, kOpKindCount>{1, 3, 0, 1, 0, 0, 0}));
  EXPECT_EQ(stats.keys, 2u);
  EXPECT_EQ(stats.list_keys, 1u);
  EXPECT_EQ(stats.most_written.key, x);
  EXPECT_EQ(stats.most_written.count, 3u);
  EXPECT_EQ(stats.most_read.count, 1u);
  EXPECT_EQ(stats.ops_per_txn.min, 0u);
  EXPECT_EQ(stats.ops_per_txn.median, 2u);
  EXPECT_EQ(stats.ops_per_txn.max, 3u);
  EXPECT_EQ(stats.txns_per_session.median, 1u);
  EXPECT_EQ(stats.txns_per_session.max, 2u);
  EXPECT_EQ(stats.clocked, 1u);
  EXPECT_EQ(stats.timestamped, 1u);
  EXPECT_EQ(stats.named, 1u);
  EXPECT_EQ(stats.version_orders, 1u);
  EXPECT_EQ(stats.complete_version_orders, 1u);
  EXPECT_GT(stats.memory_bytes, 5u * 13);
}

}  // namespace
}  // namespace ouro
