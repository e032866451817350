#include "stream/cold_keys.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <thread>

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

Name name_of(std::uint64_t number) { return {number, 1}; }

// All that a run must remember of a key, to be compared.
std::vector<std::uint64_t> facts(const KeyState& key) {
  std::vector<std::uint64_t> out = {key.stub,     key.last_epoch, key.first_epoch,
                                    key.has_stub, key.unsure,     key.reads.size()};
  out.push_back(static_cast<std::uint64_t>(key.kind));
  if (key.kind != KeyKind::List) return out;
  for (auto c = key.lists.begin(); c != key.lists.end(); c = key.lists.next(c)) {
    const ListVersion& v = key.lists.at(c);
    out.insert(out.end(), {v.value, v.own_hash, v.own_length, v.hash, v.length, v.order,
                           static_cast<std::uint64_t>(v.physical),
                           static_cast<std::uint64_t>(v.start_physical)});
  }
  return out;
}

class ColdKeysTest : public testing::Test {
 protected:
  // A table of keys, and the runs that its keys go to.
  struct Both {
    Both() {
      pool.set_step(sizeof(KeyState));
      keys.be_thrifty();
    }
    Pool pool;
    KeyTable keys{pool};
    ColdKeys cold{pool, keys};
  };

  void SetUp() override {
    fs::remove_all(folder());
    both_ = std::make_unique<Both>();
    ASSERT_TRUE(both_->cold.open(folder(), kMemory).ok());
  }
  void TearDown() override {
    both_ = nullptr;
    fs::remove_all(folder());
  }
  static std::string folder() {
    return testing::TempDir() + "ouro_cold_keys_" + std::to_string(getpid());
  }
  static std::size_t files() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder()), fs::directory_iterator()));
  }

  // Gives the key a random state with which it may leave.
  void make(std::uint64_t number) {
    KeyState& key = *both_->cold.find_or_add(name_of(number));
    key.clear(both_->pool);
    key.kind = number % 3 == 0 ? KeyKind::List : KeyKind::Register;
    key.last_epoch = static_cast<std::uint32_t>(random_() % 1'000'000);
    key.first_epoch = static_cast<std::uint32_t>(random_()) & KeyState::kMostEpochs;
    key.unsure = random_() % 2 == 0;
    key.has_stub = key.kind == KeyKind::Register && random_() % 4 != 0;
    key.stub = key.has_stub ? random_() : 0;
    if (key.kind == KeyKind::List && random_() % 4 != 0) {
      ListVersion stub = ListVersion::stub_of({});
      stub.value = random_();
      stub.own_hash = random_();
      stub.own_length = random_();
      stub.hash = random_();
      stub.length = random_();
      key.lists.insert(key.lists.end(), stub, both_->pool);
    }
    known_[number] = facts(key);
  }
  // Moves all keys in memory for which `goes` returns true to disk.
  template <class Goes>
  void let_go(const Goes& goes) {
    ASSERT_TRUE(both_->cold.begin(both_->keys.size()).ok());
    for (std::size_t part = 0; part < KeyTable::kParts; ++part) {
      std::vector<std::pair<std::uint64_t, KeyState*>> some;
      both_->keys.for_each(part, [&](KeyState& key, std::uint64_t hash) {
        if (goes(key.name.low)) some.emplace_back(hash, &key);
      });
      std::sort(some.begin(), some.end());
      for (const auto& [hash, key] : some) ASSERT_TRUE(both_->cold.leave(*key, hash).ok());
    }
    ASSERT_TRUE(both_->cold.end().ok());
    for (std::size_t part = 0; part < KeyTable::kParts; ++part) {
      both_->keys.erase_if(part, [&](const KeyState& key) { return goes(key.name.low); });
    }
  }
  void bring_back(const std::vector<std::uint64_t>& numbers) {
    std::vector<Name> names;
    std::vector<std::uint64_t> hashes;
    for (const std::uint64_t number : numbers) {
      names.push_back(name_of(number));
      hashes.push_back(names.back().hash());
    }
    std::vector<KeyState*> states(names.size());
    ASSERT_TRUE(both_->cold.bring_back(names, hashes, states).ok());
    for (std::size_t i = 0; i < names.size() && !both_->cold.empty(); ++i) {
      ASSERT_EQ(states[i], both_->keys.find(names[i], hashes[i]));
    }
    for (const std::uint64_t number : numbers) expect_known(number);
  }
  void expect_known(std::uint64_t number) {
    const KeyState* const key = both_->keys.find(name_of(number), name_of(number).hash());
    ASSERT_EQ(key != nullptr, known_.contains(number)) << number;
    if (key == nullptr) return;
    ASSERT_EQ(facts(*key), known_[number]) << number;
  }
  // Loses all that is in memory, and restores what saved() returned.
  Status crash(const std::string& saved) {
    both_ = std::make_unique<Both>();
    Decoder in(saved);
    return both_->cold.restore(in, folder(), kMemory);
  }
  std::string saved() {
    Encoder out;
    both_->cold.begin_checkpoint();
    both_->cold.save(out);
    both_->cold.end_checkpoint();
    return std::string(out.view());
  }

  static constexpr std::size_t kMemory = 1 << 20;
  std::mt19937_64 random_{7};
  std::unique_ptr<Both> both_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> known_;
};

TEST_F(ColdKeysTest, ComeBackAsTheyWereHoweverOftenTheyLeave) {
  constexpr std::uint64_t kKeys = 5'000;
  for (std::uint64_t round = 0; round < 120; ++round) {
    SCOPED_TRACE(round);
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = random_() % 400; i > 0; --i) numbers.push_back(random_() % kKeys);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    bring_back(numbers);
    for (const std::uint64_t number : numbers) {
      if (random_() % 2 == 0) make(number);
    }
    let_go([&](std::uint64_t number) { return number % 4 != round % 4; });
    ASSERT_TRUE(both_->cold.merge(random_() % 3'000).ok());
    if (round % 10 != 9) continue;
    // What happens after a checkpoint is lost in a crash. Keys in memory are saved by others, so
    // all must leave before.
    let_go([](std::uint64_t) { return true; });
    const std::string checkpoint = saved();
    const auto known = known_;
    for (int i = 0; i < 300; ++i) make(random_() % kKeys);
    let_go([](std::uint64_t) { return true; });
    ASSERT_TRUE(both_->cold.merge(random_() % 20'000).ok());
    const Status status = crash(checkpoint);
    ASSERT_TRUE(status.ok()) << status.error().to_string();
    known_ = known;
  }
  EXPECT_GT(both_->cold.came_back(), 5'000);
  std::vector<std::uint64_t> all(kKeys + 100);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  bring_back(all);
}

TEST_F(ColdKeysTest, RunsAreFewAndHoldLittleThatIsOutOfDate) {
  constexpr std::uint64_t kKeys = 20'000;
  std::size_t most_files = 0;
  for (std::uint64_t round = 0; round < 400; ++round) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 250; ++i) numbers.push_back((round * 250 + i) % kKeys);
    bring_back(numbers);
    for (const std::uint64_t number : numbers) make(number);
    let_go([](std::uint64_t) { return true; });
    ASSERT_TRUE(both_->cold.merge(8 * 250).ok());
    most_files = std::max(most_files, files());
  }
  EXPECT_EQ(both_->keys.size(), 0);
  EXPECT_LT(most_files, 20);
  // A third of the keys are lists of 64 bytes, the others take 32. Twice that leaves room for
  // filters, pages that are not full, and copies that are out of date.
  EXPECT_LT(both_->cold.disk_bytes(), kKeys * 43 * 2);
  // Filters take at most ten bits for a key or copy. The rest are the indexes, and the buffers of a
  // merge and of two searching threads.
  EXPECT_LT(both_->cold.bytes(), kKeys * 4 + most_files * 2 * kRunBuffer);
}

void flip_bit(const std::string& file, std::uint64_t at) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(at));
  const int was = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(at));
  bytes.put(static_cast<char>(was ^ 4));
}

TEST_F(ColdKeysTest, DamageIsNoticed) {
  for (std::uint64_t number = 0; number < 2'000; ++number) make(number);
  let_go([](std::uint64_t) { return true; });
  const std::string checkpoint = saved();
  const std::string file = fs::directory_iterator(folder())->path();
  const auto size = fs::file_size(file);
  const auto flip = [&](std::uint64_t at) { flip_bit(file, at); };
  for (const std::uint64_t at : {std::uint64_t{100}, size - 3}) {  // The filter, the index.
    flip(at);
    EXPECT_FALSE(crash(checkpoint).ok()) << at;
    flip(at);
  }
  ASSERT_TRUE(crash(checkpoint).ok());
  flip(8'192 + 700);  // A page.
  std::size_t failed = 0;
  for (std::uint64_t number = 0; number < 2'000; ++number) {
    const Name name = name_of(number);
    const std::uint64_t hash = name.hash();
    KeyState* state = nullptr;
    failed += both_->cold.bring_back({&name, 1}, {&hash, 1}, {&state, 1}).ok() ? 0 : 1;
  }
  EXPECT_GT(failed, 10);
  EXPECT_LT(failed, 32);
  fs::remove(file);
  EXPECT_FALSE(crash(checkpoint).ok());
}

TEST_F(ColdKeysTest, AMergeThatFailsSaysSoSoonAndLeavesNothing) {
  for (std::uint64_t number = 0; number < 2'000; ++number) make(number);
  let_go([](std::uint64_t) { return true; });
  const std::string first = fs::directory_iterator(folder())->path();
  for (std::uint64_t number = 2'000; number < 4'000; ++number) make(number);
  let_go([](std::uint64_t) { return true; });
  flip_bit(first, 8'192 + 700);
  // merge(0) never makes the result of the merge due; the error must be reported anyway.
  Status status;
  for (int i = 0; i < 100'000 && status.ok(); ++i) {
    status = both_->cold.merge(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().file, first);
  EXPECT_EQ(files(), 2);
  bring_back({2'500, 3'000, 3'999});  // What is not damaged can still be had.
}

}  // namespace
}  // namespace ouro::stream
