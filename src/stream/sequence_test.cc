#include "stream/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace ouro::stream {
namespace {

Version version_at(std::int64_t physical, std::uint64_t order) {
  Version version;
  version.physical = physical;
  version.start_physical = physical - static_cast<std::int64_t>(order % 50);
  version.order = order;
  version.value = order * 3;
  return version;
}

bool before(const Version& a, const Version& b) { return a.at() < b.at(); }

// A sequence, and a sorted vector of what should be in it.
class SequenceTest : public testing::Test {
 protected:
  void TearDown() override {
    all_.clear(pool_);
    EXPECT_EQ(pool_.used(), 0);
  }

  void insert(const Version& version) {
    const auto at = all_.insert(all_.lower_bound(version.at()), version, pool_);
    ASSERT_EQ(all_.at(at).order, version.order);
    known_.insert(std::lower_bound(known_.begin(), known_.end(), version, before), version);
  }
  void erase_before(const Moment& moment) {
    all_.erase_before(all_.lower_bound(moment), pool_);
    std::erase_if(known_, [&](const Version& version) { return version.at() < moment; });
  }
  // Compares them forward, backward, leaf by leaf, and by looking up each item.
  void compare() {
    ASSERT_EQ(all_.size(), known_.size());
    ASSERT_EQ(all_.empty(), known_.empty());
    std::size_t i = 0;
    for (auto c = all_.begin(); c != all_.end(); c = all_.next(c), ++i) {
      ASSERT_LT(i, known_.size());
      ASSERT_EQ(all_.at(c).order, known_[i].order);
      ASSERT_EQ(all_.at(c).value, known_[i].value);
      ASSERT_LE(all_.low_of_leaf(c.leaf), known_[i].low());
      ASSERT_EQ(all_.lower_bound(known_[i].at()), c);
    }
    ASSERT_EQ(i, known_.size());
    for (auto c = all_.end(); c != all_.begin();) {
      c = all_.before(c);
      ASSERT_EQ(all_.at(c).order, known_[--i].order);
    }
    auto c = all_.begin();
    for (std::size_t leaves = 0; c != all_.end(); ++leaves) {
      ASSERT_LT(leaves, known_.size());
      c = all_.next_leaf(c);
    }
    ASSERT_EQ(all_.lower_bound(Moment()), all_.begin());
    ASSERT_EQ(all_.lower_bound({std::numeric_limits<std::int64_t>::max(), 0, 0}), all_.end());
  }

  Pool pool_;
  Sequence<Version> all_;
  std::vector<Version> known_;
};

TEST_F(SequenceTest, HoldsWhatIsPutAnywhereAndForgetsWhatIsOld) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    // How late items are at most: close to the end, further away, or anywhere.
    const std::uint64_t late = round % 3 == 0 ? 5 : round % 3 == 1 ? 200 : 100'000;
    const std::uint64_t count = random() % (round % 10 == 0 ? 2'000 : 150);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto now = static_cast<std::int64_t>(known_.empty() ? 0 : known_.back().physical);
      const auto at = now + 3 - static_cast<std::int64_t>(random() % late);
      insert(version_at(at, random()));
    }
    compare();
    if (HasFatalFailure()) return;
    if (known_.empty() || round % 2 == 0) continue;
    const std::size_t gone = random() % (known_.size() + 1);
    erase_before(gone == known_.size() ? Moment{std::numeric_limits<std::int64_t>::max(), 0, 0}
                                       : known_[gone].at());
    compare();
    if (HasFatalFailure()) return;
  }
}

TEST_F(SequenceTest, UsesTheRoomItWasLentForTheFirstItemOnly) {
  alignas(Version) std::array<std::byte, sizeof(Version)> room;
  all_.lend(reinterpret_cast<Version*>(room.data()));
  compare();
  insert(version_at(5, 1));
  EXPECT_EQ(pool_.used(), 0);
  EXPECT_EQ(static_cast<const void*>(&all_.at(all_.begin())), room.data());
  compare();
  insert(version_at(3, 2));
  EXPECT_EQ(pool_.used(), 2 * sizeof(Version));
  compare();
  erase_before({4, 0, 0});
  compare();
  erase_before({6, 0, 0});
  EXPECT_EQ(pool_.used(), 0);
  insert(version_at(7, 3));
  compare();
}

TEST_F(SequenceTest, WhatDoesNotFitIntoTheRoomIsNotPutThere) {
  alignas(Version) std::array<std::byte, sizeof(Version)> room{};
  Sequence<ListVersion> lists;
  lists.lend(reinterpret_cast<ListVersion*>(room.data()));
  EXPECT_TRUE(lists.empty());
  ListVersion version{version_at(5, 1)};
  version.length = 7;
  lists.insert(lists.end(), version, pool_);
  EXPECT_EQ(lists.at(lists.begin()).length, 7);
  EXPECT_EQ(room, (std::array<std::byte, sizeof(Version)>{}));
  EXPECT_EQ(pool_.used(), sizeof(ListVersion));
  lists.clear(pool_);
}

// Blocks must not overlap, even where pieces are made ready by another thread.
TEST(PoolTest, GivesWhatNobodyElseHasHoweverFastItIsAsked) {
  Pool pool;
  pool.work_ahead();
  constexpr std::size_t kBlock = 1024;
  constexpr std::size_t kCount = 80'000;  // 80 MB.
  std::vector<std::uint64_t*> blocks;
  for (std::size_t i = 0; i < kCount; ++i) {
    auto* const block = static_cast<std::uint64_t*>(pool.take(kBlock));
    block[0] = block[kBlock / 8 - 1] = i;
    blocks.push_back(block);
  }
  EXPECT_EQ(pool.used(), kBlock * kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(blocks[i][0], i);
    ASSERT_EQ(blocks[i][kBlock / 8 - 1], i);
  }
}

}  // namespace
}  // namespace ouro::stream
