#include "serve/intake.h"

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

TEST(IntakeTest, WhatDoesNotFitWaitsUntilSomethingIsDone) {
  Intake intake(100);
  auto first = intake.reserve(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(intake.reserve(60, soon()));
  auto small = intake.reserve(40, soon());
  EXPECT_TRUE(small);
  EXPECT_EQ(intake.bytes(), 100u);
  std::thread other([&] { EXPECT_TRUE(intake.reserve(60)); });
  first.reset();
  other.join();
  EXPECT_EQ(intake.bytes(), 40u);
}

TEST(IntakeTest, ABatchBeyondTheLimitFitsAlone) {
  Intake intake(10);
  auto large = intake.reserve(1000, soon());
  ASSERT_TRUE(large);
  EXPECT_FALSE(intake.reserve(1, soon()));
  large.reset();
  EXPECT_TRUE(intake.reserve(1, soon()));
}

TEST(IntakeTest, BatchesComeOutInOrderAndGiveTheirBytesBack) {
  Intake intake(100);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Batch batch = batch_of(*intake.reserve(10));
    batch.id.number = number;
    EXPECT_TRUE(intake.submit(std::move(batch)));
  }
  EXPECT_EQ(intake.waiting(), 3u);
  {
    const auto taken = intake.take(0ms);
    ASSERT_EQ(taken.size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(taken[i].id.number, i + 1);
    EXPECT_EQ(intake.bytes(), 30u);
  }
  EXPECT_EQ(intake.bytes(), 0u);
  EXPECT_TRUE(intake.take(1ms).empty());
}

TEST(IntakeTest, AfterClosingNothingIsAcceptedButWhatWaitsCanBeTaken) {
  Intake intake(100);
  auto late = intake.reserve(1);
  EXPECT_TRUE(intake.submit(batch_of(*intake.reserve(1))));
  auto all = intake.reserve(98);
  std::thread waiting([&] { EXPECT_FALSE(intake.reserve(50)) << "waiting ends"; });
  std::this_thread::sleep_for(5ms);
  intake.close();
  waiting.join();
  EXPECT_FALSE(intake.submit(batch_of(*std::move(late))));
  EXPECT_EQ(intake.take(0ms).size(), 1u);
}

}  // namespace
}  // namespace ouro::serving
