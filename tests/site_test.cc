// The gallery of the site: the histories of docs/anomalies.md as interactive reports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "ouro/explain.h"
#include "tests/browser.h"
#include "tests/files.h"
#include "tests/page_rules.h"
#include "tests/run_program.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kScript = (kRoot / "scripts" / "site").string();

// What is wrong with a report on screens of several widths, light and dark, or "".
std::string broken_rules(Browser& browser) {
  std::string wrong;
  for (const int width : {360, 768, 1440}) {
    browser.evaluate("window.drawn = [...document.querySelectorAll('.picture')]; 0");
    browser.resize(width, 900);
    browser.wait_for(
        "!drawn.some(e => e.isConnected) && !!document.querySelector('.picture .node')");
    for (const bool dark : {false, true}) {
      browser.prefer_dark(dark);
      for (const char* rule : {kClashes, kUnreadable, kBadStories}) {
        const std::string found = browser.evaluate(rule);
        if (found != "[]") wrong += std::to_string(width) + (dark ? " dark: " : ": ") + found;
      }
    }
  }
  return wrong;
}

TEST(SiteTest, EveryAnomalyHasAReportThatShowsIt) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  const fs::path folder = temporary("gallery");
  const Ran made = run_program({kScript, "--gallery-only", folder.string(), kOuroBinary});
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string page = slurp(folder / "gallery.md");
  std::set<std::string> shown;
  const std::regex item(R"(- \*\*\[([^\]]*)\]\(anomalies.md#([^)]*)\)\*\*: [^\n]*)");
  const std::regex link(R"(\]\((gallery/[^)]*\.html)\) \(\[history\]\(([^)]*)\)\))");
  for (auto at = std::sregex_iterator(page.begin(), page.end(), item); at != std::sregex_iterator();
       ++at) {
    const std::string line = at->str();
    const std::string name = (*at)[1];
    SCOPED_TRACE(name);
    shown.insert(name);
    for (auto to = std::sregex_iterator(line.begin(), line.end(), link);
         to != std::sregex_iterator(); ++to) {
      const fs::path report = folder / (*to)[1].str();
      EXPECT_TRUE(fs::exists(folder / (*to)[2].str()));
      browser.open(report);
      browser.wait_for("!!document.querySelector('.picture .node')");
      std::string title = browser.text(".story h3");
      title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
      EXPECT_THAT(title, StartsWith(name)) << report;
      EXPECT_THAT(browser.text("h2"), HasSubstr(report.stem().string() + ".jsonl"));
      EXPECT_THAT(browser.complaints(), IsEmpty());
      EXPECT_EQ(broken_rules(browser), "") << report;
    }
  }
  for (std::size_t i = 0; i < kPatternCount; ++i) {
    const std::string name(info(static_cast<Pattern>(i)).name);
    EXPECT_TRUE(shown.contains(name)) << name;
  }
  fs::remove_all(folder);
}

TEST(SiteTest, AnAnomalyWithoutAReportIsAnError) {
  const fs::path folder = temporary("documents");
  fs::create_directories(folder / "docs");
  fs::create_directories(folder / "scripts");
  fs::copy_file(kScript, folder / "scripts" / "site");
  const auto make = [&](const std::string& text) {
    std::ofstream(folder / "docs" / "anomalies.md") << text;
    fs::remove_all(folder / "out");
    return run_program({(folder / "scripts" / "site").string(), "--gallery-only",
                        (folder / "out").string(), kOuroBinary});
  };
  const std::string document =
      "| [thin-air read](#thin-air-read) | |\n\n### thin-air read\n\n```jsonl\n"
      "{\"session\":\"a\",\"ops\":[[\"r\",\"x\",7]]}\n```\n";
  EXPECT_EQ(make(document).status, 0);
  const Ran missing = make("| [phantom](#phantom) | |\n" + document);
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("no history in docs/anomalies.md shows phantom"));
  const Ran fine = make(document + "\n```jsonl\n{\"session\":\"a\",\"ops\":[]}\n```\n");
  EXPECT_EQ(fine.status, 1);
  EXPECT_THAT(fine.err, HasSubstr("thin-air_read, which no level forbids"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ouro
