#include "db/live_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ouro::db {
namespace {

// A server with clients: transactions get numbers when they first write, become visible in another
// order, and clients hear of that later, or never.
class Played {
 public:
  explicit Played(std::uint32_t seed) : random_(seed) {}

  void run() {
    for (int step = 0; step < 600; ++step) act();
    for (Client& client : clients_) finish(client);
    while (!orphans_.empty()) end_orphan();
    polling_ = true;
    poll();
  }
  // Compares what was told with what was played.
  void compare() const {
    for (const Client& client : ended_) {
      const auto found = times_.find(client.token);
      ASSERT_NE(found, times_.end()) << client.token;
      const Recovered::Times& told = found->second;
      EXPECT_EQ(told.commit == kNoTimestamp, client.id == 0 || !client.committed);
      for (const Client& other : ended_) {
        const auto commit = times_.find(other.token);
        if (commit == times_.end() || commit->second.commit == kNoTimestamp) continue;
        const bool before = commit->second.commit < told.start;
        ASSERT_EQ(before, client.snapshot.sees(other.id) && other.id != client.id)
            << client.token << ' ' << other.token;
      }
    }
  }
  std::size_t told_early = 0;

 private:
  struct Client {
    LiveOrder::Ticket ticket = 0;  // Zero: there is no transaction.
    std::uint64_t token = 0, id = 0;
    Snapshot snapshot;
    bool visible = false, committed = false, certain = true;
  };

  std::uint64_t any(std::uint64_t below) { return random_() % below; }
  Snapshot snapshot() const {
    Snapshot taken{.next = newest_ended_ + 1};
    for (const std::uint64_t id : running_) {
      if (id < taken.next) taken.in_progress.push_back(id);
    }
    return taken;
  }
  void poll() {
    Snapshot taken = snapshot();
    if (!std::exchange(polling_, true)) act();  // Before its answer comes.
    polling_ = false;
    order_.add(std::move(taken));
    const auto times = order_.settle([&](std::uint64_t id) { return fates_.at(id); });
    ASSERT_TRUE(times.ok()) << times.error().what;
    for (const Recovered::Times& told : *times) {
      EXPECT_TRUE(times_.emplace(told.token, told).second) << "told twice";
    }
    told_early = times_.size();
  }
  void end_on_server(Client& client, bool commits) {
    client.visible = true;
    client.committed = commits;
    if (client.id == 0) return;
    fates_[client.id] = commits;
    running_.erase(client.id);
    newest_ended_ = std::max(newest_ended_, client.id);
  }
  void answer(Client& client) {
    if (client.committed || !client.certain) {
      order_.end(client.ticket, {client.token, client.id, client.snapshot, client.certain});
      ended_.push_back(client);
    } else {
      order_.drop(client.ticket);
    }
    client = {};
  }
  void end_orphan() {
    end_on_server(orphans_.back(), orphans_.back().committed);
    orphans_.pop_back();
  }
  void finish(Client& client) {
    if (client.ticket == 0) return;
    if (!client.visible) end_on_server(client, true);
    answer(client);
  }
  void act() {
    Client& client = clients_[any(5)];
    const std::uint64_t kind = any(6);
    if (kind == 0 && any(3) == 0 && !polling_) return poll();
    if (client.ticket == 0) {
      client.ticket = order_.begin();
      client.token = ++tokens_;
      client.snapshot = snapshot();
    } else if (client.visible) {
      answer(client);
    } else if (client.id == 0 && kind < 4) {
      client.id = next_++;
      running_.insert(client.id);
    } else if (any(8) == 0 && client.id != 0) {
      // The connection breaks, and the server goes on for a while.
      client.certain = false;
      client.committed = any(2) == 0;
      orphans_.push_back(client);
      answer(client);
    } else if (!orphans_.empty() && kind == 5) {
      end_orphan();
    } else {
      end_on_server(client, any(6) != 0);
    }
  }

  std::mt19937 random_;
  LiveOrder order_;
  std::vector<Client> clients_{5};
  std::vector<Client> ended_;
  std::vector<Client> orphans_;  // They have not ended, but no client will hear of that.
  bool polling_ = false;
  std::map<std::uint64_t, Recovered::Times> times_;
  std::map<std::uint64_t, bool> fates_;
  std::set<std::uint64_t> running_;
  std::uint64_t next_ = 700, newest_ended_ = 699, tokens_ = 0;
};

TEST(LiveOrderTest, ThePlayedOrderIsTold) {
  std::size_t told = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Played played(seed);
    played.run();
    played.compare();
    told += played.told_early;
  }
  EXPECT_GT(told, 10'000U);
}

TEST(LiveOrderTest, WhatAnOpenTransactionMaySeeWaits) {
  LiveOrder order;
  const auto nobody = [](std::uint64_t) { return std::optional<bool>(); };
  const LiveOrder::Ticket writer = order.begin();
  const LiveOrder::Ticket reader = order.begin();
  order.end(writer, {.token = 1, .id = 10, .snapshot = {10, {}}});
  order.add({11, {}});
  EXPECT_TRUE(order.settle(nobody)->empty());
  order.end(reader, {.token = 2, .snapshot = {11, {}}});
  order.add({11, {}});
  const auto times = order.settle(nobody);
  ASSERT_EQ(times->size(), 2U);
  EXPECT_LT((*times)[0].commit, (*times)[1].start);
}

TEST(LiveOrderTest, AnEndThatNobodyKnowsIsAnError) {
  LiveOrder order;
  order.end(order.begin(), {.token = 1, .id = 10, .snapshot = {10, {}}, .certain = false});
  order.add({10, {}});
  const auto nobody = [](std::uint64_t) { return std::optional<bool>(); };
  EXPECT_TRUE(order.settle(nobody).ok());  // It has not ended.
  order.add({11, {}});
  EXPECT_FALSE(order.settle(nobody).ok());
}

TEST(LiveOrderTest, SnapshotsThatContradictEachOtherAreAnError) {
  LiveOrder order;
  const auto nobody = [](std::uint64_t) { return std::optional<bool>(); };
  const LiveOrder::Ticket one = order.begin();
  const LiveOrder::Ticket other = order.begin();
  const LiveOrder::Ticket third = order.begin();
  order.end(one, {.token = 1, .id = 10, .snapshot = {10, {}}});
  order.end(other, {.token = 2, .snapshot = {12, {11}}});  // Sees 10, and the next does not.
  order.end(third, {.token = 3, .snapshot = {13, {10}}});
  order.add({14, {}});
  EXPECT_FALSE(order.settle(nobody).ok());
}

}  // namespace
}  // namespace ouro::db
