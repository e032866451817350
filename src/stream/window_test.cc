#include "stream/window.h"

#include <gtest/gtest.h>

#include <random>

namespace ouro::stream {
namespace {

// Opens `count` transactions with contents by which expect_all() recognises them.
void open(Window& window, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(window.next());
    window.open(StreamTime(number)).wrong = static_cast<std::uint32_t>(number % 1'000);
  }
}

void expect_all(Window& window, Arrival first, Arrival next) {
  ASSERT_EQ(window.first(), first);
  ASSERT_EQ(window.next(), next);
  for (Arrival a = first; a < next; ++a) {
    ASSERT_EQ(window.at(a).arrived, StreamTime(static_cast<std::int64_t>(a)));
    ASSERT_EQ(window.at(a).wrong, a % 1'000);
  }
}

TEST(WindowTest, KeepsWhoWaitsWhileItGrowsAndShrinks) {
  std::mt19937_64 random(11);
  for (const Arrival begin : {Arrival{0}, Arrival{700}, Arrival{512}, Arrival{1'000'003}}) {
    Window window;
    window.restart(begin, begin);
    Arrival first = begin;
    Arrival next = begin;
    for (int round = 0; round < 60; ++round) {
      const std::uint64_t more = random() % (round < 30 ? 3'000 : 500);
      open(window, more);
      next += more;
      const std::uint64_t fewer = random() % (round < 30 ? 1'500 : 4'000);
      for (std::uint64_t i = 0; i < fewer && first < next; ++i, ++first) window.close_first();
      expect_all(window, first, next);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(WindowTest, GoesOnWithThoseThatWaitedWhenItWasSaved) {
  Window window;
  open(window, 10);
  window.restart(700, 5'000);
  EXPECT_EQ(window.size(), 4'300);
  for (Arrival a = 700; a < 5'000; ++a) {
    EXPECT_EQ(window.at(a).wrong, 0);
    window.at(a).arrived = StreamTime(static_cast<std::int64_t>(a));
    window.at(a).wrong = static_cast<std::uint32_t>(a % 1'000);
  }
  open(window, 5'000);
  expect_all(window, 700, 10'000);
}

}  // namespace
}  // namespace ouro::stream
