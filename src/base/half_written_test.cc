#include "base/half_written.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/temporary_folder.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

class HalfWrittenTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_->path() / name; }
  // A half-written file of that name, with something in it.
  [[nodiscard]] std::unique_ptr<HalfWritten> begun(const std::string& name) const {
    auto file = std::make_unique<HalfWritten>(path(name));
    std::ofstream(file->path()) << "half";
    return file;
  }

  Result<TemporaryFolder> folder_ = TemporaryFolder::make("half-written-");
};

TEST_F(HalfWrittenTest, WhatIsFinishedStaysUnderItsFinalName) {
  {
    const auto file = begun("a.part");
    ASSERT_TRUE(file->finish(path("a")));
    HalfWritten::remove_all();
  }
  EXPECT_TRUE(fs::exists(path("a")));
  EXPECT_FALSE(fs::exists(path("a.part")));
}

TEST_F(HalfWrittenTest, WhatIsNotFinishedIsRemoved) {
  begun("a.part").reset();
  EXPECT_TRUE(fs::is_empty(folder_->path()));
  const auto unfinished = begun("a.part");
  EXPECT_FALSE(unfinished->finish(path("nowhere/a")));
}

TEST_F(HalfWrittenTest, WhatCouldNotBeOpenedIsLeftAlone) {
  const auto foreign = begun("a.part");
  foreign->abandon();
  HalfWritten::remove_all();
  EXPECT_TRUE(fs::exists(foreign->path()));
}

TEST_F(HalfWrittenTest, ASignalRemovesAllThatIsHalfWrittenThen) {
  const auto early = begun("early.part");
  begun("gone.part").reset();  // Its place is used again.
  const auto late = begun("late.part");
  std::ofstream(path("gone.part")) << "of somebody else";
  HalfWritten::remove_all();
  EXPECT_FALSE(fs::exists(early->path()));
  EXPECT_FALSE(fs::exists(late->path()));
  EXPECT_TRUE(fs::exists(path("gone.part")));
}

}  // namespace
}  // namespace ouro
