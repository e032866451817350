#include "stream/version_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

class VersionStoreTest : public testing::Test {
 protected:
  VersionStoreTest() { fs::remove_all(folder_); }
  ~VersionStoreTest() override { fs::remove_all(folder_); }

  std::unique_ptr<VersionStore> open(std::uint32_t first, std::uint32_t last) {
    auto store = VersionStore::open(folder_, first, last);
    EXPECT_TRUE(store.ok());
    return *std::move(store);
  }
  static std::string key(int number) { return fmt::format("{:08}", number); }
  // Entries for even numbers; every hundredth is larger than a block.
  static std::string value(int number) {
    return std::string(number % 100 == 0 ? 40'000 : 100, static_cast<char>('a' + number % 26));
  }
  static void fill(VersionStore& store, std::uint32_t epoch, int count) {
    auto writer = store.write(epoch);
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE((*writer)->add(key(2 * i), value(2 * i)).ok());
    }
    const auto bytes = (*writer)->finish();
    ASSERT_TRUE(bytes.ok());
    EXPECT_GT(*bytes, static_cast<std::uint64_t>(count) * 100);
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const std::string folder_ = fmt::format("{}ouro_{}_versions", testing::TempDir(), ::getpid());
};

TEST_F(VersionStoreTest, FindsWhatWasWrittenAndNothingElse) {
  auto store = open(1, 0);
  fill(*store, 1, 3000);
  for (int i = 0; i < 6000; i += 7) {
    const auto found = store->find(1, key(i));
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found->has_value(), i % 2 == 0) << i;
    if (i % 2 == 0) {
      EXPECT_EQ(**found, value(i));
    }
  }
}

TEST_F(VersionStoreTest, FindsTheLastThatIsNotBehind) {
  auto store = open(1, 0);
  fill(*store, 1, 3000);
  EXPECT_FALSE(store->find_before(1, "0")->has_value());
  for (int i = 1; i < 6000; i += 11) {
    const auto found = store->find_before(1, key(i));
    ASSERT_TRUE(found.ok() && found->has_value()) << i;
    EXPECT_EQ((*found)->key, key(i / 2 * 2));
    EXPECT_EQ((*found)->value, value(i / 2 * 2));
  }
  EXPECT_EQ((*store->find_before(1, "9"))->key, key(5998));
}

TEST_F(VersionStoreTest, AnEpochOfNothingHasNothing) {
  auto store = open(1, 0);
  auto writer = store->write(1);
  ASSERT_TRUE(writer.ok() && (*writer)->finish().ok());
  EXPECT_FALSE(store->find(1, "a")->has_value());
  EXPECT_FALSE(store->find_before(1, "a")->has_value());
}

TEST_F(VersionStoreTest, OpeningRemovesEpochsThatNobodyKeeps) {
  {
    auto store = open(1, 0);
    for (std::uint32_t epoch = 1; epoch <= 20; ++epoch) fill(*store, epoch, 10);
    for (std::uint32_t epoch = 1; epoch <= 20; ++epoch) {
      EXPECT_TRUE(store->find(epoch, key(0))->has_value()) << "more than stay open";
    }
    store->drop(3);
    EXPECT_FALSE(store->find(3, key(0)).ok());
  }
  std::ofstream(folder_ + "/notes.txt") << "not ours";
  auto store = open(2, 4);
  EXPECT_THAT(files(), testing::UnorderedElementsAre("epoch-0000000002.run", "epoch-0000000004.run",
                                                     "notes.txt"));
  EXPECT_TRUE(store->find(4, key(0))->has_value());
}

TEST_F(VersionStoreTest, DamageIsAnError) {
  const std::string path = folder_ + "/epoch-0000000001.run";
  fill(*open(1, 0), 1, 300);
  std::string whole;
  {
    std::ifstream file(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto error_of = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto found = open(1, 1)->find(1, key(0));
    return found.ok() ? std::string("no error") : found.error().to_string();
  };
  for (const std::size_t at : {std::size_t{20}, whole.size() - 40, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_EQ(error_of(changed), path + ": is damaged; is the disk failing?") << at;
  }
  EXPECT_NE(error_of(whole.substr(0, whole.size() / 2)), "no error");
  EXPECT_NE(error_of(""), "no error");
  EXPECT_EQ(error_of(whole), "no error");
}

}  // namespace
}  // namespace ouro::stream
