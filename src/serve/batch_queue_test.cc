#include "serve/batch_queue.h"

#include <gtest/gtest.h>

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

auto soon() { return std::chrono::steady_clock::now() + 20ms; }

TEST(BatchQueueTest, WhatDoesNotFitWaitsUntilSomethingIsDone) {
  BatchQueue queue(100);
  auto first = queue.reserve(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(queue.reserve(60, soon()));
  auto small = queue.reserve(40, soon());
  EXPECT_TRUE(small);
  EXPECT_EQ(queue.bytes(), 100u);
  std::thread other([&] { EXPECT_TRUE(queue.reserve(60)); });
  first.reset();
  other.join();
  EXPECT_EQ(queue.bytes(), 40u);
}

TEST(BatchQueueTest, ABatchBeyondTheLimitFitsAlone) {
  BatchQueue queue(10);
  auto large = queue.reserve(1000, soon());
  ASSERT_TRUE(large);
  EXPECT_FALSE(queue.reserve(1, soon()));
  large.reset();
  EXPECT_TRUE(queue.reserve(1, soon()));
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

}  // namespace
}  // namespace ouro::serving
