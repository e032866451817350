// The documents against the program: histories parse, commands print what is shown, cases are those
// that the case test runs, links lead somewhere, and no level, anomaly or format is left out.
//
// tests/documents.h says what blocks there are.
//
// With OURO_UPDATE_DOCS set, what commands print is written into the documents instead.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ouro/ouro.h"
#include "tests/documents.h"
#include "tests/files.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

std::vector<Document> documents() {
  std::vector<Document> found;
  for (const char* path : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
                           "src/README.md", "tests/cases/README.md"}) {
    found.push_back(read_document(kRoot / path));
  }
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(read_document(entry.path()));
  }
  return found;
}

std::string place(const Document& document, const DocumentBlock& block) {
  return fs::relative(document.path, kRoot).string() + ':' + std::to_string(block.line);
}

// The anchor that a heading gets: lower case, blanks as dashes, other signs dropped.
std::string anchor(std::string_view heading) {
  std::string out;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    const auto u = static_cast<unsigned char>(c);
    if (c == ' ') out += '-';
    if (std::isalnum(u) || c == '-' || c == '_') out += static_cast<char>(std::tolower(u));
  }
  return out;
}

std::set<std::string> anchors(const Document& document) {
  std::set<std::string> found;
  for (const std::string& heading : document.headings) found.insert(anchor(heading));
  return found;
}

std::string native_text(const History& history) {
  std::string out;
  const auto report = print_history(history, Format::Native, out);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  return out;
}

TEST(DocsTest, NativeHistoriesParseAndPrintTheSameAgain) {
  std::size_t count = 0;
  for (const Document& document : documents()) {
    for (const DocumentBlock& block : document.blocks) {
      if (block.language != "jsonl") continue;
      ++count;
      const auto history = parse_history(block.text, {}, place(document, block));
      ASSERT_TRUE(history.ok()) << history.error().to_string();
      const std::string text = native_text(*history);
      const auto again = parse_history(text);
      ASSERT_TRUE(again.ok()) << place(document, block) << ": " << again.error().to_string();
      EXPECT_EQ(native_text(*again), text) << place(document, block);
    }
  }
  EXPECT_GE(count, 7u);
}

TEST(DocsTest, HistoriesInOtherFormatsAreDetectedAndParse) {
  std::set<std::string> seen;
  for (const Document& document : documents()) {
    for (const DocumentBlock& block : document.blocks) {
      const FormatInfo* format = find_format(block.name);
      if (format == nullptr) continue;
      SCOPED_TRACE(place(document, block));
      seen.insert(block.name);
      const auto detected = parse_history(block.text);
      const auto told = parse_history(block.text, {.format = format->format});
      ASSERT_TRUE(detected.ok()) << detected.error().to_string();
      ASSERT_TRUE(told.ok()) << told.error().to_string();
      EXPECT_GT(told->txn_count(), 0u);
      EXPECT_EQ(native_text(*detected), native_text(*told));
    }
  }
  EXPECT_GE(seen.size(), 8u);
}

TEST(DocsTest, CasesShownAreTheCasesRun) {
  std::size_t count = 0;
  for (const Document& document : documents()) {
    for (const DocumentBlock& block : document.blocks) {
      if (block.language != "case") continue;
      ++count;
      EXPECT_EQ(block.text, slurp(kRoot / "tests" / "cases" / (block.name + ".case")))
          << place(document, block);
    }
  }
  EXPECT_GE(count, 20u);
}

// How long something took differs from run to run.
std::string masked(const std::string& text) {
  static const std::regex kTime(R"((key|keys|flips), [0-9.]+ (ms|s)\n)");
  return std::regex_replace(text, kTime, "$1, TIME\n");
}

void replace(const fs::path& path, const std::string& old_text, const std::string& new_text) {
  std::string text = slurp(path);
  const std::size_t at = text.find(old_text);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, old_text.size(), new_text);
  std::ofstream(path, std::ios::binary) << text;
}

TEST(DocsTest, CommandsPrintWhatIsShown) {
  std::size_t count = 0;
  for (const Document& document : documents()) {
    const CommandFolder folder;
    for (const DocumentBlock& block : document.blocks) {
      if (block.is_file()) folder.write(block.name, block.text);
      if (block.language != "console") continue;
      std::string printed;
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("$ ")) continue;
        ++count;
        printed += line + '\n' + folder.shell(line.substr(2)).text;
      }
      if (masked(printed) == masked(block.text)) continue;
      if (std::getenv("OURO_UPDATE_DOCS") != nullptr) {
        replace(document.path, block.text, printed);
      } else {
        ADD_FAILURE() << place(document, block) << " shows\n"
                      << block.text << "but this is printed\n"
                      << printed;
      }
    }
  }
  EXPECT_GE(count, 5u);
}

// Whatever the tutorials tell to type is run: by CommandsPrintWhatIsShown, or, where the output
// says nothing, by LiveTutorialTest; a project of CMake by tests/find_package and Python by
// clients/python/tests. So no command may be anywhere else.
TEST(DocsTest, TutorialsHaveNoCommandsThatAreNotRun) {
  const Document tutorials = read_document(kRoot / "docs/tutorials.md");
  const std::set<std::string> known = {"console", "sh", "jsonl", "python", "cmake", "cpp"};
  for (const DocumentBlock& block : tutorials.blocks) {
    EXPECT_TRUE(known.contains(block.language)) << place(tutorials, block);
  }
  EXPECT_EQ(tutorials.prose.find("\n    "), std::string::npos) << "use a block: ```sh";
}

TEST(DocsTest, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  for (const Document& document : documents()) {
    const auto begin = std::sregex_iterator(document.prose.begin(), document.prose.end(), link);
    for (auto at = begin; at != std::sregex_iterator(); ++at) {
      const std::string target = (*at)[1];
      const std::string wanted = (*at)[2];
      if (target.starts_with("http")) continue;
      const fs::path path = target.empty() ? document.path : document.path.parent_path() / target;
      ASSERT_TRUE(fs::exists(path)) << document.path << " links to " << target;
      if (wanted.empty()) continue;
      EXPECT_TRUE(anchors(read_document(path)).contains(wanted.substr(1)))
          << document.path << " links to " << target << wanted;
    }
  }
}

TEST(DocsTest, DocumentsThatTheProgramPointsToExist) {
  EXPECT_EQ(document_address("anomalies.md", "lost-update"), "docs/anomalies.md#lost-update");
  EXPECT_EQ(document_address("serve.md"), "docs/serve.md");
  const std::regex pointer(R"re(document_address\(\s*"([^"]*)")re");
  std::set<std::string> pages;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = slurp(entry.path());
    for (auto at = std::sregex_iterator(text.begin(), text.end(), pointer);
         at != std::sregex_iterator(); ++at) {
      pages.insert((*at)[1]);
    }
  }
  EXPECT_GE(pages.size(), 3u);
  for (const std::string& page : pages) EXPECT_TRUE(fs::exists(kRoot / "docs" / page)) << page;
}

TEST(DocsTest, TheSchemaOfVerdictsHasTheLevelsThatThereAre) {
  std::string names;
  for (const LevelInfo& level : levels()) {
    names += (names.empty() ? "\"" : ", \"") + std::string(level.name) + '"';
  }
  // What transactions that state their own levels are judged by is no level of the lattice.
  const std::string line = "\"level\": {\"enum\": [" + names + ", \"mixed\"]}";
  EXPECT_NE(slurp(kRoot / "docs/check.schema.json").find(line), std::string::npos) << line;
}

// One row of kOpInfos each, in its order, whatever the line breaks.
TEST(DocsTest, TheSchemaOfVerdictsHasTheKindsOfOperationsThatThereAre) {
  std::string names;
  for (const OpInfo& op : kOpInfos) {
    names += (names.empty() ? "\"" : ", \"") + std::string(op.name) + '"';
  }
  const std::string entry = "\"kind\": {\"enum\": [" + names + "]}";
  const std::string schema =
      std::regex_replace(slurp(kRoot / "docs/check.schema.json"), std::regex("\\s+"), " ");
  EXPECT_NE(schema.find(entry), std::string::npos) << entry;
}

// docs/releases.md names these places beside CMakeLists.txt.
TEST(DocsTest, WhatOthersInstallHasTheVersionOfTheLibrary) {
  const std::string number(version());
  const struct {
    const char *file, *before, *after;
  } places[] = {
      {"clients/python/pyproject.toml", "version = \"", "\"\n"},
      {"clients/java/pom.xml", "<artifactId>ouro</artifactId>\n  <version>", "<"},
      {"clients/java/README.md", "<version>", "<"},
      {"clients/jepsen/project.clj", "(defproject ouro/checker \"", "\""},
      {"docs/ci.md", "./ci/ouro_", "_amd64.deb"},
      {"docs/java.md", "# ouro:ouro:", "\n"},
      {"docs/jepsen.md", "[ouro/checker \"", "\"]"},
      {"docs/ouro.1", ".TH OURO 1 \"\" \"ouro ", "\"\n"},
  };
  for (const auto& [file, before, after] : places) {
    EXPECT_NE(slurp(kRoot / file).find(before + number + after), std::string::npos) << file;
  }
}

TEST(DocsTest, NoLevelAnomalyOrFormatIsLeftOut) {
  const auto level_anchors = anchors(read_document(kRoot / "docs/levels.md"));
  for (const LevelInfo& level : levels()) {
    EXPECT_TRUE(level_anchors.contains(std::string(level.name))) << level.name;
  }
  const auto anomaly_anchors = anchors(read_document(kRoot / "docs/anomalies.md"));
  for (std::size_t kind = 0; kind < kAnomalyKindCount; ++kind) {
    const AnomalyInfo& anomaly = info(static_cast<AnomalyKind>(kind));
    EXPECT_TRUE(anomaly_anchors.contains(anchor(anomaly.name))) << anomaly.name;
  }
  for (std::size_t i = 0; i < kPatternCount; ++i) {
    const PatternInfo& pattern = info(static_cast<Pattern>(i));
    EXPECT_TRUE(anomaly_anchors.contains(anchor(pattern.name))) << pattern.name;
  }
  const auto format_anchors = anchors(read_document(kRoot / "docs/formats.md"));
  for (const FormatInfo& format : formats()) {
    EXPECT_TRUE(format_anchors.contains(std::string(format.name))) << format.name;
  }
}

}  // namespace
}  // namespace ouro
