// The documents against the program: histories parse, commands print what is shown, cases are those
// that the case test runs, links lead somewhere, and no level, anomaly or format is left out.
//
// What a fenced block is for stands behind its fence:
//
//   ```jsonl [file name]   a native history, kept under that name for the document's commands
//   ```LANGUAGE FORMAT     a history in another format, by the name that --format takes
//   ```case NAME           the whole of tests/cases/NAME.case
//   ```console             "$ " lines are commands, the others what they print, times aside
//
// With OURO_UPDATE_DOCS set, what commands print is written into the documents instead.

#include <gtest/gtest.h>
#include <unistd.h>

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
#include "tests/files.h"
#include "tests/run_program.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string language;
  std::string name;  // The second word behind the fence, if any.
  std::string text;
  int line = 0;
};

struct Document {
  fs::path path;
  std::vector<Block> blocks;
  std::vector<std::string> headings;
  std::string prose;  // Everything but the blocks.
};

Document read_document(const fs::path& path) {
  Document document{.path = path, .blocks = {}, .headings = {}, .prose = {}};
  std::istringstream lines(slurp(path));
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_block = !in_block;
      if (!in_block) continue;
      Block block;
      std::istringstream words(line.substr(3));
      words >> block.language >> block.name;
      block.line = number;
      document.blocks.push_back(block);
    } else if (in_block) {
      document.blocks.back().text += line + '\n';
    } else {
      if (line.starts_with("#")) document.headings.push_back(line);
      document.prose += line + '\n';
    }
  }
  EXPECT_FALSE(in_block) << path << ": the last block has no end";
  return document;
}

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

std::string place(const Document& document, const Block& block) {
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
    for (const Block& block : document.blocks) {
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
    for (const Block& block : document.blocks) {
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
    for (const Block& block : document.blocks) {
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

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "ouro_docs_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  // What a terminal would show.
  [[nodiscard]] std::string shell(const std::string& command) const {
    const std::string program = fs::path(kOuroBinary).parent_path().string();
    const std::string script =
        "cd '" + path_.string() + "' && PATH='" + program + "':$PATH && { " + command + "\n} 2>&1";
    return run_program({"/bin/sh", "-c", script}).out;
  }

 private:
  fs::path path_;
};

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
    const Folder folder;
    for (const Block& block : document.blocks) {
      if (block.language == "jsonl" && !block.name.empty()) folder.write(block.name, block.text);
      if (block.language != "console") continue;
      std::string printed;
      std::istringstream lines(block.text);
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("$ ")) continue;
        ++count;
        printed += line + '\n' + folder.shell(line.substr(2));
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
