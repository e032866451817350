// More keys than fit into memory.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "ouro/history_builder.h"
#include "ouro/stream.h"
#include "tests/this_build.h"

namespace ouro::oracle {
namespace {

// Writes new keys, one in eight of them a list, and reads old ones: transaction after transaction.
class Passing {
 public:
  std::shared_ptr<const History> next_batch() {
    HistoryBuilder b;
    for (int t = 0; t < 100; ++t) {
      b.begin_txn(b.session(t));
      now_ += 10;
      b.timestamps({now_, 0}, {now_ + 5, 0});
      for (int i = 0; i < 5 && keys_ > 0; ++i)
        read(b, static_cast<std::int64_t>(random_() % keys_));
      for (int i = 0; i < 50; ++i) {
        const auto key = static_cast<std::int64_t>(keys_ + i);
        if (key % 8 == 0) {
          b.append(b.key(key), b.integer(3 * key));
        } else {
          b.write(b.key(key), b.integer(3 * key));
        }
      }
      keys_ += 50;
    }
    return std::make_shared<const History>(*std::move(b).freeze());
  }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void read(HistoryBuilder& b, std::int64_t key) {
    const bool wrong = random_() % 1'000 == 0;
    if (wrong) ++wrong_;
    const Value value = b.integer(3 * key + (wrong ? 1 : 0));
    if (key % 8 == 0) {
      b.read_list(b.key(key), {&value, 1});
    } else {
      b.read(b.key(key), value);
    }
  }

  std::mt19937_64 random_{5};
  std::uint64_t keys_ = 0;
  std::uint64_t wrong_ = 0;
  std::int64_t now_ = 0;
};

TEST(StreamKeysTest, OfAMillionKeysOnlySoManyAreInMemoryAndEachIsKnown) {
  StreamOptions options;
  options.memory = std::size_t{20} << 20;
  options.timeout = std::chrono::milliseconds(100);
  options.folder = testing::TempDir() + "ouro_stream_keys_" + std::to_string(getpid());
  const std::string file = options.folder + ".checkpoint";
  auto stream = Stream::open(options);
  ASSERT_TRUE(stream.ok());
  Passing feed;
  StreamTime now{0};
  std::uint64_t most_keys = 0;
  std::uint64_t most_memory = 0;
  const std::uint64_t batches = kSlowdown == 1 ? 250 : 20;
  for (std::uint64_t i = 1; i <= batches; ++i) {
    now += std::chrono::milliseconds(10);
    ASSERT_TRUE(stream->append(feed.next_batch(), now).ok());
    stream->advance(now);
    most_keys = std::max(most_keys, stream->summary().keys);
    most_memory = std::max(most_memory, stream->summary().memory);
    static_cast<void>(stream->poll());
    if (i != batches / 2) continue;
    ASSERT_TRUE(stream->save(file).ok());
    stream = Stream::restore(options, file);
    ASSERT_TRUE(stream.ok()) << stream.error().to_string();
  }
  const StreamSummary end = stream->finish();
  EXPECT_EQ(feed.keys(), 5'000 * batches);
  EXPECT_LT(most_keys, 150'000);
  EXPECT_LT(most_memory, options.memory);
  EXPECT_GE(end.keys_left + most_keys, feed.keys());
  EXPECT_EQ(end.counts[static_cast<std::size_t>(AnomalyKind::SnapshotMismatch)], feed.wrong());
  EXPECT_GT(feed.wrong(), 100 / kSlowdown);
  EXPECT_EQ(end.lost_stragglers, 0);
  std::filesystem::remove(file);
  std::filesystem::remove_all(options.folder);
}

}  // namespace
}  // namespace ouro::oracle
