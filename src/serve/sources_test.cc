#include "serve/sources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace ouro::serving {
namespace {

using namespace std::chrono_literals;

TEST(SourcesTest, QuietSourcesLeaveTheirMemoryToTheOthers) {
  std::string folder = (std::filesystem::temp_directory_path() / "ouro_sources_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  {
    StreamOptions options;
    options.memory = std::size_t{64} << 20;
    options.folder = folder + "/spill";
    Sources sources(options, "");
    ASSERT_TRUE(sources.open().ok());
    for (const char* name : {"one", "two", "three"}) ASSERT_TRUE(sources.add(name).ok());
    for (const auto& [number, source] : sources.all()) EXPECT_EQ(source.memory, 16u << 20);
    sources.find("one")->fed = 10min;
    sources.share_memory(10min);
    EXPECT_EQ(sources.find("one")->memory, 61u << 20);
    EXPECT_EQ(sources.find("two")->memory, 1u << 20);
    // One comes back; then all are quiet.
    sources.find("two")->fed = 10min;
    sources.share_memory(10min + 1s);
    EXPECT_EQ(sources.find("two")->memory, 31u << 20);
    sources.share_memory(20min);
    for (const auto& [number, source] : sources.all()) EXPECT_EQ(source.memory, 16u << 20);
    ASSERT_TRUE(sources.forget(sources.find("three")->number).ok());
    EXPECT_EQ(sources.find("one")->memory, (64u << 20) / 3);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ouro::serving
