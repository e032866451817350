#include <gtest/gtest.h>

#include <sstream>

#include "ouro/report.h"

namespace ouro {
namespace {

std::size_t line_of(const std::string& drawing, std::string_view name) {
  std::istringstream lines(drawing);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == name || word == std::string(name) + '\\') return number;
    }
  }
  return 0;
}

TEST(LevelsReportTest, EveryLevelIsDrawnBelowThoseThatImplyIt) {
  const std::string text = describe_levels();
  const std::string drawing = text.substr(0, text.find("decided by this version"));
  for (const LevelInfo& level : levels()) {
    ASSERT_NE(line_of(drawing, level.name), 0u) << level.name << drawing;
    for (const Level below : directly_below(level.level)) {
      EXPECT_GT(line_of(drawing, info(below).name), line_of(drawing, level.name)) << level.name;
    }
  }
}

TEST(LevelsReportTest, MarksWhatIsDecidedAndFitsTheScreen) {
  std::istringstream lines(describe_levels());
  std::size_t marked = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    marked += line.starts_with("* ");
  }
  std::size_t decided = 0;
  for (const LevelInfo& level : levels()) decided += decidable(level.level);
  EXPECT_EQ(marked, decided);
}

}  // namespace
}  // namespace ouro
