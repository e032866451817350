#include "base/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ouro {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolderTest, GoesWithTheObjectAndAllThatIsInIt) {
  fs::path path;
  {
    auto made = TemporaryFolder::make("ouro-test");
    ASSERT_TRUE(made.ok());
    const TemporaryFolder folder = *std::move(made);
    path = folder.path();
    EXPECT_TRUE(path.filename().string().starts_with("ouro-test-"));
    fs::create_directory(path / "inner");
    EXPECT_TRUE(std::ofstream(path / "inner" / "file") << "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, IsRemovedOnce) {
  auto folder = TemporaryFolder::make("ouro-test");
  ASSERT_TRUE(folder.ok());
  const fs::path path = folder->path();
  EXPECT_TRUE(folder->remove().ok());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(folder->path().empty());
  EXPECT_TRUE(folder->remove().ok());
}

// A socket in the folder needs a short path.
TEST(TemporaryFolderTest, APathThatWouldBeTooLongIsNotUsed) {
  const auto folder = TemporaryFolder::make("ouro-test", 0);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->path().parent_path(), "/tmp");
}

}  // namespace
}  // namespace ouro
