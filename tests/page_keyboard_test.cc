// Both pages with the keyboard alone: whatever has the focus is seen, and everything that a mouse
// can do can be done.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/browser.h"
#include "tests/case_file.h"
#include "tests/html_page.h"
#include "tests/page_rules.h"
#include "tests/serve_process.h"

namespace ouro {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::size_t kMostStops = 300;

// Presses Tab until the focus leaves the page. What has it is visible each time; returns what had
// it, as kFocused calls it.
std::vector<std::string> tab_through(Browser& browser) {
  std::vector<std::string> stops;
  while (stops.size() < kMostStops) {
    browser.press("Tab");
    const std::string focused = browser.evaluate(kFocused);
    if (focused == "null") return stops;
    EXPECT_EQ(focused.find("\",\""), std::string::npos) << focused;
    stops.push_back(focused);
  }
  ADD_FAILURE() << "Tab never leaves the page";
  return stops;
}

// Presses Tab until something has the focus that the selector finds.
bool tab_to(Browser& browser, const std::string& selector) {
  for (std::size_t i = 0; i < kMostStops; ++i) {
    browser.press("Tab");
    if (browser.is_true("document.activeElement.matches('" + selector + "')")) return true;
  }
  ADD_FAILURE() << "Tab never comes to " << selector;
  return false;
}

class KeyboardTest : public HtmlPageTest {};

// A lost update by three sessions with clocks, and another transaction between them.
const char* const kSold = R"(initial 0
T1 @ann [10,40]: r stock 0, w stock 1
T2 @bob [20,50]: r stock 0, w stock 2
T3 @eve [30,60]: r price 0
T4 @eve [70,80]: w price 3
)";

TEST_F(KeyboardTest, TabGoesThroughTheReportAndIsAlwaysSeen) {
  for (const int width : {360, 1440}) {
    browser_.resize(width, 700);
    open(oracle::history_of(kSold), levels_by(Evidence::Observed));
    const std::vector<std::string> stops = tab_through(browser_);
    for (const char* each : {"BUTTON theme", "BUTTON  premise", "BUTTON  sentence", "g  node",
                             "g  edge", "g  level", "DIV  plot", "g  bar", "SUMMARY"}) {
      EXPECT_THAT(stops, Contains(HasSubstr(each))) << width;
    }
    EXPECT_THAT(browser_.complaints(), IsEmpty());
  }
}

TEST_F(KeyboardTest, UpAndDownGoFromBarToBar) {
  open(oracle::history_of(kSold), {Level::Serializable});
  ASSERT_TRUE(tab_to(browser_, ".plot"));
  const auto told = [&] { return browser_.text(".timeline .info"); };
  browser_.press("ArrowDown");
  EXPECT_THAT(told(), StartsWith("T1, session ann"));
  browser_.press("ArrowDown");
  EXPECT_THAT(told(), StartsWith("T2, session bob"));
  browser_.press("ArrowDown");
  EXPECT_THAT(told(), StartsWith("session eve, transaction 3"));
  EXPECT_EQ(browser_.count(".bar.chosen"), 1u);
  browser_.press("ArrowUp");
  EXPECT_THAT(told(), StartsWith("T2, session bob"));
  // From the bar that has the focus, not from the one that was chosen before.
  browser_.evaluate("document.querySelector('.plot').focus(); 0");
  ASSERT_TRUE(tab_to(browser_, ".bar[data-txn=T1]"));
  EXPECT_THAT(told(), StartsWith("T1, session ann"));
  browser_.press("ArrowDown");
  EXPECT_THAT(told(), StartsWith("T2, session bob"));
  EXPECT_TRUE(browser_.is_true("document.activeElement.matches('.bar[data-txn=T2]')"));
  browser_.press("ArrowDown");
  EXPECT_THAT(told(), StartsWith("session eve, transaction 3"));
  browser_.press("ArrowUp");
  EXPECT_THAT(told(), StartsWith("T2, session bob"));
  // What is chosen stays, wherever the view goes.
  browser_.press("ArrowRight");
  browser_.press("+");
  EXPECT_THAT(told(), StartsWith("T2, session bob"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

std::string overlap(const std::string& key, int start) {
  std::string text;
  for (int i = 0; i < 2; ++i) {
    text += fmt::format(R"({{"session":"{0}{1}","start_ts":{2},"commit_ts":{3},)"
                        R"("ops":[["r","{0}",null],["w","{0}",{1}]]}})",
                        key, i, start + i, start + 4 + i) +
            "\n";
  }
  return text;
}

TEST(ServeKeyboardTest, AStoryIsOpenedReadAndClosed) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  ASSERT_EQ(service.post(overlap("apples", 1) + overlap("pears", 11)).status, 200);
  for (const int width : {360, 1440}) {
    browser.resize(width, 700);
    browser.open(service.url() + "/");
    browser.wait_for("document.querySelectorAll('#events .group').length === 2");
    EXPECT_THAT(tab_through(browser), Contains(HasSubstr("on apples")));
    ASSERT_TRUE(tab_to(browser, ".group summary"));
    browser.press("Enter");
    browser.wait_for(
        "document.querySelectorAll('.group[open], .group details[open]').length === 1");
    ASSERT_TRUE(tab_to(browser, ".group button"));
    browser.press("Enter");
    browser.wait_for("!!document.querySelector('#story[open] .picture')");
    EXPECT_EQ(browser.evaluate(kBadStories), "[]");
    // All of it can be reached, and the focus does not leave the open story for what is behind it.
    const std::vector<std::string> stops = tab_through(browser);
    EXPECT_THAT(stops, Contains(HasSubstr("g  node")));
    EXPECT_THAT(stops, Contains(HasSubstr("g  edge")));
    EXPECT_THAT(stops, Contains(HasSubstr("SUMMARY")));
    EXPECT_THAT(stops, testing::Not(Contains(HasSubstr("BUTTON theme"))));
    ASSERT_TRUE(tab_to(browser, "#story .edge"));
    browser.press("Enter");
    EXPECT_THAT(browser.text("#story .inspector .why"), HasSubstr("overwrote"));
    browser.press("Escape");
    EXPECT_EQ(browser.count("#story .inspector .why"), 0u) << "first what was chosen is let go";
    EXPECT_TRUE(browser.is_true("document.getElementById('story').open"));
    browser.press("Escape");
    browser.wait_for(
        "!document.getElementById('story').open && "
        "document.activeElement.matches('.group button')");
  }
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

// Events that arrive do not take the focus away, nor unfold what the reader folded.
TEST(ServeKeyboardTest, TheFocusStaysWhenEventsArrive) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  ASSERT_EQ(service.post(overlap("apples", 1) + overlap("pears", 11)).status, 200);
  browser.open(service.url() + "/");
  browser.wait_for("document.querySelectorAll('#events .group').length === 2");
  ASSERT_TRUE(tab_to(browser, ".group summary"));
  browser.press("Enter");
  ASSERT_TRUE(tab_to(browser, ".group button"));
  const std::string focused = browser.evaluate("document.activeElement.textContent");
  ASSERT_EQ(service.post(overlap("plums", 21)).status, 200);
  browser.wait_for("document.querySelectorAll('#events .group').length === 3");
  EXPECT_EQ(browser.evaluate("document.activeElement.textContent"), focused);
  EXPECT_EQ(browser.count(".group details[open]"), 1u);
  browser.press("Enter");
  browser.wait_for("!!document.querySelector('#story[open] .picture')");
  ASSERT_EQ(service.post(overlap("quinces", 31)).status, 200);
  browser.wait_for("document.querySelectorAll('#events .group').length === 4");
  browser.press("Escape");
  browser.wait_for("document.activeElement.matches('.group button')");
  EXPECT_EQ(browser.evaluate("document.activeElement.textContent"), focused);
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

}  // namespace
}  // namespace ouro
