#include "stream/aside.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace ouro::stream {
namespace {

TEST(AsideTest, EachPieceIsDoneOnceByOneOfTwo) {
  Aside aside;
  for (std::size_t round = 0; round < 2'000; ++round) {
    const std::size_t pieces = round % 37;
    std::vector<std::atomic<int>> done(pieces);
    std::array<int, 2> by{};  // Each is touched by one thread only.
    aside.share(pieces, [&](std::size_t piece, std::size_t who) {
      ++done[piece];
      ++by[who];
    });
    for (std::size_t i = 0; i < pieces; ++i) ASSERT_EQ(done[i], 1) << round << ' ' << i;
    ASSERT_EQ(by[0] + by[1], static_cast<int>(pieces));
  }
}

TEST(AsideTest, TheOtherHelps) {
  Aside aside;
  std::array<std::atomic<int>, 2> by{};
  // Each thread waits until the other has begun a piece, but not for ever.
  aside.share(2, [&](std::size_t, std::size_t who) {
    ++by[who];
    for (int i = 0; i < 100'000 && by[1 - who] == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(by[0], 1);
  EXPECT_EQ(by[1], 1);
}

}  // namespace
}  // namespace ouro::stream
