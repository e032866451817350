// The browser that other tests look at pages with: that it sees what is there, and says what is
// not.

#include "tests/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ouro {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BrowserTest : public testing::Test {
 protected:
  void SetUp() override {
    if (browser_.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
    std::string pattern = (fs::temp_directory_path() / "ouro_page_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void show(const std::string& body) {
    std::ofstream(folder_ / "page.html") << "<!doctype html><meta charset=utf-8><body>" << body;
    browser_.open(folder_ / "page.html");
  }

  Browser browser_;
  fs::path folder_;
};

TEST_F(BrowserTest, EvaluatesAndReads) {
  show("<p id=a>grüß &lt;Gott&gt;</p><p>2</p>");
  EXPECT_EQ(browser_.evaluate("1 + 1"), "2");
  EXPECT_EQ(browser_.evaluate("Promise.resolve({a: ['x']})"), R"({"a":["x"]})");
  EXPECT_EQ(browser_.text("#a"), "grüß <Gott>");
  EXPECT_EQ(browser_.text("#b"), "");
  EXPECT_EQ(browser_.count("p"), 2u);
  EXPECT_TRUE(browser_.is_true("document.querySelector('#b') === null"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  EXPECT_THAT(browser_.requests(), ElementsAre("file://" + (folder_ / "page.html").string()));
}

TEST_F(BrowserTest, ClicksHoversAndTypesForReal) {
  show(R"(<div style="height:3000px"></div>
<button id=b onclick="done.textContent += event.isTrusted ? 'clicked ' : 'no '">b</button>
<svg width=200 height=200>
  <path id=arc d="M10 190 A180 180 0 0 1 190 10" fill="none" stroke="red" stroke-width="8"
        onmouseover="done.textContent += 'over '"/></svg>
<input id=i onkeydown="done.textContent += event.key + ' '"><p id=done></p>)");
  browser_.click("#b");
  browser_.hover("#arc");
  browser_.click("#i");
  browser_.press("a");
  browser_.press("ArrowLeft");
  browser_.type("xyz");
  browser_.press("Tab");
  EXPECT_EQ(browser_.text("#done"), "clicked over a ArrowLeft Tab");
  EXPECT_EQ(browser_.evaluate("i.value"), "\"xyza\"");
}

TEST_F(BrowserTest, WaitsForWhatTakesTime) {
  show("<script>setTimeout(() => { window.ready = true }, 50)</script>");
  browser_.wait_for("window.ready === true");
  EXPECT_TRUE(browser_.is_true("ready"));
}

TEST_F(BrowserTest, ColoursAndSizeAreAsAsked) {
  show("");
  const std::string dark = "matchMedia('(prefers-color-scheme: dark)').matches";
  EXPECT_FALSE(browser_.is_true(dark));
  EXPECT_EQ(browser_.evaluate("innerWidth"), "1280");
  browser_.prefer_dark(true);
  browser_.resize(1000, 700);
  EXPECT_TRUE(browser_.is_true(dark));
  EXPECT_EQ(browser_.evaluate("innerWidth"), "1000");
}

TEST_F(BrowserTest, WhatThePageComplainsOfIsHeard) {
  show(R"(<img src="nowhere.png"><script>
console.error("first");
console.log("not this");
setTimeout(() => { undefined_function() }, 0);
</script>)");
  browser_.wait_for("document.readyState === 'complete'");
  browser_.evaluate("new Promise(done => setTimeout(done, 50))");
  EXPECT_THAT(browser_.complaints(),
              testing::UnorderedElementsAre(HasSubstr("console error"),
                                            HasSubstr("ReferenceError: undefined_function"),
                                            HasSubstr("ERR_FILE_NOT_FOUND")));
  EXPECT_EQ(browser_.requests().size(), 2u);
  show("<p>well");
  EXPECT_THAT(browser_.complaints(), IsEmpty());
}

TEST_F(BrowserTest, APictureIsWritten) {
  show("<p>hello</p>");
  browser_.screenshot(folder_ / "page.png");
  std::ostringstream bytes;
  bytes << std::ifstream(folder_ / "page.png", std::ios::binary).rdbuf();
  EXPECT_GT(bytes.str().size(), 500u);
  EXPECT_EQ(bytes.str().substr(1, 3), "PNG");
}

TEST_F(BrowserTest, WhatIsNotThereIsAFailure) {
  show("<p id=p>hello</p><div style='position:fixed;inset:0'></div>");
  EXPECT_NONFATAL_FAILURE(browser_.click("#nobody"), "#nobody: no such element");
  browser_.click("#p");  // Broken now: nothing happens.
  Browser other;
  other.open(folder_ / "page.html");
  EXPECT_NONFATAL_FAILURE(other.click("#p"), "#p: at ");
  Browser third;
  EXPECT_NONFATAL_FAILURE(third.open(folder_ / "nothing.html"), "ERR_FILE_NOT_FOUND");
}

}  // namespace
}  // namespace ouro
