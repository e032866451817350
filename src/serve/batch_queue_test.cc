#include "serve/batch_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ouro::serving {
namespace {

using namespace std::chrono_literals;

Batch batch_of(Reservation reservation) {
  Batch batch;
  batch.history = std::make_shared<const History>();
  batch.reservation = std::move(reservation);
  return batch;
}

bool fits_now(BatchQueue& queue, std::size_t bytes) { return Reservation(queue, 0).resize(bytes); }

TEST(BatchQueueTest, WhatDoesNotFitWaitsUntilSomethingIsDone) {
  BatchQueue queue(100);
  auto first = queue.reserve(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(fits_now(queue, 60));
  auto small = queue.reserve(40);
  EXPECT_TRUE(small);
  EXPECT_EQ(queue.bytes(), 100u);
  std::thread other([&] { EXPECT_TRUE(queue.reserve(60)); });
  first.reset();
  other.join();
  EXPECT_EQ(queue.bytes(), 40u);
}

TEST(BatchQueueTest, ABatchBeyondTheLimitFitsAlone) {
  BatchQueue queue(10);
  auto large = queue.reserve(1000);
  ASSERT_TRUE(large);
  EXPECT_FALSE(fits_now(queue, 1));
  large.reset();
  EXPECT_TRUE(fits_now(queue, 1));
}

TEST(BatchQueueTest, BatchesComeOutInOrderAndGiveTheirBytesBack) {
  BatchQueue queue(100);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Batch batch = batch_of(*queue.reserve(10));
    batch.id.number = number;
    EXPECT_TRUE(queue.submit(std::move(batch)));
  }
  EXPECT_EQ(queue.waiting(), 3u);
  {
    const auto taken = queue.take(0ms);
    ASSERT_EQ(taken.size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(taken[i].id.number, i + 1);
    EXPECT_EQ(queue.bytes(), 30u);
  }
  EXPECT_EQ(queue.bytes(), 0u);
  EXPECT_TRUE(queue.take(1ms).empty());
}

TEST(BatchQueueTest, AfterClosingNothingIsAcceptedButWhatWaitsCanBeTaken) {
  BatchQueue queue(100);
  auto late = queue.reserve(1);
  EXPECT_TRUE(queue.submit(batch_of(*queue.reserve(1))));
  auto all = queue.reserve(98);
  std::thread waiting([&] { EXPECT_FALSE(queue.reserve(50)) << "waiting ends"; });
  std::this_thread::sleep_for(5ms);
  queue.close();
  waiting.join();
  EXPECT_FALSE(queue.submit(batch_of(*std::move(late))));
  EXPECT_EQ(queue.take(0ms).size(), 1u);
}

TEST(BatchQueueTest, TwoThatWaitWithHalfABatchEachDoNotWaitForEachOther) {
  BatchQueue queue(100);
  Reservation one(queue, 0), other(queue, 0);
  ASSERT_TRUE(one.resize(50) && other.resize(50));
  EXPECT_FALSE(one.resize(60));
  std::atomic<int> complete{0};
  const auto finish = [&](Reservation& half) {
    EXPECT_TRUE(half.await(80));
    ++complete;
    half = Reservation(queue, 0);
  };
  std::thread first([&] { finish(one); }), second([&] { finish(other); });
  first.join();
  second.join();
  EXPECT_EQ(complete, 2);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(BatchQueueTest, ItIsCrowdedWhileSomebodyAsksInVainForLong) {
  BatchQueue queue(100);
  EXPECT_FALSE(queue.crowded());
  auto all = queue.reserve(100);
  EXPECT_FALSE(fits_now(queue, 1));
  EXPECT_FALSE(queue.crowded());
  while (!queue.crowded()) {
    EXPECT_FALSE(fits_now(queue, 1));
    std::this_thread::sleep_for(10ms);
  }
  all.reset();
  while (queue.crowded()) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(fits_now(queue, 1));
}

}  // namespace
}  // namespace ouro::serving
