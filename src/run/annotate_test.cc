#include "run/annotate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/files.h"

namespace ouro::running {
namespace {

// The line `before` with `annotation` applied to it.
std::string after(const std::string& before, Annotation annotation) {
  const std::string path = temporary("annotate");
  std::ofstream(path) << before << '\n';
  EXPECT_TRUE(annotate(path, {std::move(annotation)}, {}, db::Model::Registers).ok());
  std::string line = slurp(path);
  std::filesystem::remove(path);
  line.pop_back();
  return line;
}

TEST(AnnotateTest, TimesAreAddedInFront) {
  EXPECT_EQ(after(R"({"session":1,"ops":[]})", {.start = {4, 0}, .commit = {5, 2}}),
            R"({"start_ts":4,"commit_ts":[5,2],"session":1,"ops":[]})");
}

// What a database tells at once it may tell again, or better, after the run.
TEST(AnnotateTest, ATimeThatWasThereIsReplaced) {
  const std::string line = R"({"session":1,"start_ts":4,"commit_ts":[5,2],"ops":[["w",1,2]]})";
  EXPECT_EQ(after(line, {.start = {4, 0}, .commit = {6, 0}}),
            R"({"start_ts":4,"commit_ts":6,"session":1,"ops":[["w",1,2]]})");
  EXPECT_EQ(after(line, {.commit = {6, 0}}),
            R"({"commit_ts":6,"session":1,"start_ts":4,"ops":[["w",1,2]]})");
  EXPECT_EQ(after(line, {}), line);
}

TEST(AnnotateTest, ResolutionsAndVersionSetsFindTheirPlaces) {
  const std::string line = R"({"session":1,"status":"unknown","start_ts":4,"ops":[["x"],["y"]]})";
  Annotation annotation{.resolution = db::Resolution::Committed, .start = {7, 0}};
  annotation.inserts = {{static_cast<std::uint32_t>(line.find("\"y\"")), "1,"}};
  EXPECT_EQ(after(line, annotation), R"({"start_ts":7,"session":1,"ops":[["x"],[1,"y"]]})");
  annotation.resolution = db::Resolution::Aborted;
  EXPECT_EQ(after(line, annotation),
            R"({"start_ts":7,"session":1,"status":"aborted","ops":[["x"],[1,"y"]]})");
}

}  // namespace
}  // namespace ouro::running
