// For tests of the HTML report in a real browser.
//
// With OURO_SCREENSHOTS set to a folder, the pages and pictures of them are left there, to be
// looked at.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ouro/ouro.h"
#include "tests/browser.h"
#include "tests/page_rules.h"

namespace ouro {

class HtmlPageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (browser_.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
    std::string pattern = (std::filesystem::temp_directory_path() / "ouro_html_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override {
    if (const char* pictures = std::getenv("OURO_SCREENSHOTS"); pictures != nullptr) {
      const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
      const std::filesystem::path folder(pictures);
      const bool tall = browser_.is_true("document.documentElement.scrollHeight > 12000");
      browser_.screenshot(folder / (name + ".png"),
                          tall ? Browser::Extent::Window : Browser::Extent::Page);
      std::ofstream(folder / (name + ".html")) << page_;
    }
    std::filesystem::remove_all(folder_);
  }

  static std::vector<Level> levels_by(Evidence evidence) {
    std::vector<Level> out;
    for (const LevelInfo& level : levels()) {
      if (decidable(level.level, evidence)) out.push_back(level.level);
    }
    return out;
  }

  static std::vector<Explanation> explain_all(const History& history,
                                              const std::vector<Verdict>& verdicts) {
    std::vector<Explanation> out;
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome == Outcome::Violated) out.push_back(explain(history, verdict));
    }
    return out;
  }

  static void add(HtmlReport& report, const std::string& name, const History& history,
                  const std::vector<Level>& asked, Evidence evidence = Evidence::Observed) {
    CheckOptions options;
    options.evidence = evidence;
    const auto verdicts = check(history, asked, options);
    ASSERT_TRUE(verdicts.ok()) << verdicts.error().to_string();
    const std::vector<Explanation> explanations = explain_all(history, *verdicts);
    report.add({.name = name,
                .history = &history,
                .verdicts = *verdicts,
                .explanations = explanations,
                .seconds = 0.25});
  }

  void open(const HtmlReport& report) {
    page_ = report.finish();
    std::ofstream(folder_ / "report.html", std::ios::binary) << page_;
    show(folder_ / "report.html");
  }

  // Opens a page and waits until its pictures are drawn.
  void show(const std::filesystem::path& page) {
    browser_.open(page);
    browser_.wait_for("!document.querySelector('.graph:empty, .plot:empty')");
  }

  void open(const History& history, const std::vector<Level>& asked,
            Evidence evidence = Evidence::Observed) {
    HtmlReport report;
    add(report, "shop.jsonl", history, asked, evidence);
    open(report);
  }

  std::vector<std::string> texts(const std::string& selector) {
    std::vector<std::string> out;
    const std::string find = fmt::format("document.querySelectorAll('{}')", selector);
    const std::size_t count = browser_.count(selector);
    for (std::size_t i = 0; i < count; ++i) {
      browser_.evaluate(
          fmt::format("window.wanted?.removeAttribute('data-wanted'); "
                      "window.wanted = {}[{}]; "
                      "wanted.setAttribute('data-wanted', ''); 0",
                      find, i));
      out.push_back(browser_.text("[data-wanted]"));
    }
    return out;
  }

  // What is in the way of something else in the pictures: boxes, labels, arrows and the frame.
  std::string clashes() { return browser_.evaluate(kClashes); }

  Browser browser_;
  std::filesystem::path folder_;
  std::string page_;
};

}  // namespace ouro
