#include "db/snapshot_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ouro::db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Snapshot snapshot(std::string_view text) {
  const auto parsed = parse_snapshot(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Snapshot{});
}

TEST(SnapshotTest, TheServersFormIsRead) {
  EXPECT_THAT(snapshot("731:731:").in_progress, IsEmpty());
  const Snapshot one = snapshot("731:733:731");
  EXPECT_EQ(one.next, 733u);
  EXPECT_THAT(one.in_progress, ElementsAre(731u));
  EXPECT_THAT(snapshot("1:18446744073709551615:3,2").in_progress, ElementsAre(2u, 3u));
  for (const char* bad : {"", "1", "1:", "1:2", "x:2:", "1:2:x", "1:2:3;4", "1,2:3"}) {
    EXPECT_FALSE(parse_snapshot(bad).has_value()) << bad;
  }
}

TEST(SnapshotTest, OnlyWhatEndedBeforeIsSeen) {
  const Snapshot one = snapshot("5:9:5,7");
  EXPECT_TRUE(one.sees(4));
  EXPECT_FALSE(one.sees(5));
  EXPECT_TRUE(one.sees(6));
  EXPECT_FALSE(one.sees(7));
  EXPECT_TRUE(one.sees(8));
  EXPECT_FALSE(one.sees(9));
}

// 731 is logged first but waits for its standby; 732 is logged later and becomes visible first.
TEST(SnapshotOrderTest, VisibilityCountsNotTheLog) {
  const std::vector<Snapshot> snapshots = {snapshot("733:733:"), snapshot("731:733:731"),
                                           snapshot("731:731:")};
  const std::vector<std::uint64_t> committed = {731, 732};
  const std::vector<std::uint64_t> logged = {731, 732};
  const SnapshotOrder order = order_snapshots(snapshots, committed, logged);
  EXPECT_EQ(order.breaks, 0u);
  EXPECT_LT(order.starts[2], order.commits[1]);
  EXPECT_LT(order.commits[1], order.starts[1]);
  EXPECT_LT(order.starts[1], order.commits[0]);
  EXPECT_LT(order.commits[0], order.starts[0]);
}

TEST(SnapshotOrderTest, TheLogDecidesWhereNoSnapshotDoes) {
  const std::vector<Snapshot> snapshots = {snapshot("10:10:"), snapshot("13:13:")};
  const std::vector<std::uint64_t> committed = {10, 11, 12};
  const SnapshotOrder order =
      order_snapshots(snapshots, committed, std::vector<std::uint64_t>{12, 10, 11});
  EXPECT_THAT(order.commits, ElementsAre(3, 4, 2));
  EXPECT_THAT(order.starts, ElementsAre(1, 5));
}

TEST(SnapshotOrderTest, SnapshotsThatContradictEachOtherAreCounted) {
  // Each snapshot sees a commit that the other does not: a long fork.
  const std::vector<Snapshot> snapshots = {snapshot("10:12:10"), snapshot("11:12:11")};
  const std::vector<std::uint64_t> committed = {10, 11};
  EXPECT_EQ(order_snapshots(snapshots, committed, {}).breaks, 1u);
}

// Plays a server: transactions get numbers when they first write, commit in another order, and
// snapshots are taken in between. The order found must be the one played.
TEST(SnapshotOrderTest, ThePlayedOrderIsFound) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<std::uint64_t> open;
    std::vector<std::uint64_t> commit_order;
    std::vector<std::uint64_t> logged;
    std::vector<Snapshot> snapshots;
    std::vector<std::size_t> commits_before;  // For each snapshot, how many commits came before it.
    std::uint64_t next = 700;
    std::uint64_t newest_ended = 699;
    for (int step = 0; step < 200; ++step) {
      const auto kind = random() % 3;
      if (kind == 0) {
        open.push_back(next++);
      } else if (kind == 1 && !open.empty()) {
        const std::size_t which = random() % open.size();
        commit_order.push_back(open[which]);
        newest_ended = std::max(newest_ended, open[which]);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        Snapshot taken{.next = newest_ended + 1};
        for (const std::uint64_t id : open) {
          if (id < taken.next) taken.in_progress.push_back(id);
        }
        std::sort(taken.in_progress.begin(), taken.in_progress.end());
        snapshots.push_back(taken);
        commits_before.push_back(commit_order.size());
      }
    }
    logged = commit_order;
    std::vector<std::uint64_t> committed = commit_order;
    std::sort(committed.begin(), committed.end());
    const SnapshotOrder order = order_snapshots(snapshots, committed, logged);
    ASSERT_EQ(order.breaks, 0u);
    const auto commit_of = [&](std::uint64_t id) {
      return order.commits[static_cast<std::size_t>(
          std::lower_bound(committed.begin(), committed.end(), id) - committed.begin())];
    };
    for (std::size_t i = 1; i < commit_order.size(); ++i) {
      ASSERT_LT(commit_of(commit_order[i - 1]), commit_of(commit_order[i]));
    }
    for (std::size_t s = 0; s < snapshots.size(); ++s) {
      for (std::size_t i = 0; i < commit_order.size(); ++i) {
        ASSERT_EQ(commit_of(commit_order[i]) < order.starts[s], i < commits_before[s]);
      }
    }
  }
}

}  // namespace
}  // namespace ouro::db
