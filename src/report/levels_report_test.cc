#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "ouro/report.h"

namespace ouro {
namespace {

// The words, without commas, of the line about level `name` in the table.
std::vector<std::string> row_of_table(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 5 || !line.substr(4).starts_with(std::string(name) + ' ')) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line.substr(4));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(LevelsReportTest, TheTableSaysWhatEachLevelDirectlyImplies) {
  const std::string text = describe_levels();
  for (const LevelInfo& level : levels()) {
    std::vector<std::string> expected{std::string(level.name)};
    for (const Level below : directly_below(level.level)) expected.emplace_back(info(below).name);
    if (expected.size() == 1) expected.emplace_back("-");
    EXPECT_EQ(row_of_table(text, level.name), expected) << text;
  }
}

TEST(LevelsReportTest, VerdictsAreMarkedInTheTable) {
  const Verdict verdicts[] = {{.level = Level::Si, .outcome = Outcome::Violated},
                              {.level = Level::Causal, .outcome = Outcome::Holds},
                              {.level = Level::Prefix}};
  const std::string plain = marked_lattice(verdicts);
  EXPECT_NE(plain.find("\n  ✗ si "), std::string::npos) << plain;
  EXPECT_NE(plain.find("\n  ✓ causal "), std::string::npos) << plain;
  EXPECT_NE(plain.find("\n  ? prefix "), std::string::npos) << plain;
  EXPECT_NE(plain.find("\n    gsi "), std::string::npos) << "nobody asked" << plain;
  EXPECT_NE(marked_lattice(verdicts, true).find("\n  \033[1;31m✗\033[0m si "), std::string::npos);
}

TEST(LevelsReportTest, MarksWhatIsDecidedAndFitsTheScreen) {
  std::istringstream lines(describe_levels());
  std::size_t marked = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    marked += line.starts_with("* ");
  }
  std::size_t decided = 0;
  for (const LevelInfo& level : levels()) decided += decidable(level.level, Evidence::Timestamps);
  EXPECT_EQ(marked, decided);
}

}  // namespace
}  // namespace ouro
