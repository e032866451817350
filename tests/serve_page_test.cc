// The page of the service in a real browser.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/browser.h"
#include "tests/run_program.h"
#include "tests/serve_process.h"
#include "tests/this_build.h"

namespace ouro {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Screenshots to look at, if OURO_SCREENSHOTS names a folder.
void shoot(Browser& browser, const std::string& name) {
  const char* folder = std::getenv("OURO_SCREENSHOTS");
  if (folder != nullptr) browser.screenshot(std::filesystem::path(folder) / (name + ".png"));
}

std::string writer(const std::string& session, int start, int commit, int value) {
  return "{\"session\":\"" + session + "\",\"start_ts\":" + std::to_string(start) +
         ",\"commit_ts\":" + std::to_string(commit) + ",\"ops\":[[\"r\",\"x\",null],[\"w\",\"x\"," +
         std::to_string(value) + "]]}\n";
}

TEST(ServePageTest, TheVerdictChangesLiveAndAViolationOpensItsExplanation) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  browser.open(service.url() + "/");
  browser.wait_for("document.getElementById('link').textContent === 'live'");
  EXPECT_EQ(browser.text("#word"), "Holds");
  EXPECT_EQ(browser.text("#why"), "No transaction came yet.");
  EXPECT_TRUE(browser.is_true("!document.getElementById('none').hidden"));
  ASSERT_EQ(service.post(writer("a", 1, 4, 1) + writer("<b>bold</b>", 2, 5, 2)).status, 200);
  browser.wait_for("document.getElementById('word').textContent === 'Violated'");
  browser.wait_for("document.querySelectorAll('#events li').length === 1");
  EXPECT_EQ(browser.text("#why"), "1 × write conflict");
  EXPECT_THAT(browser.text("#events .headline"),
              HasSubstr("write conflict: sessions a, \"<b>bold</b>\""))
      << "shown as it is, not as markup";
  EXPECT_EQ(browser.count("#events b"), 0u);
  browser.wait_for("document.querySelectorAll('.tile path.curve[d]').length === 6");
  browser.click("#events button");
  browser.wait_for("document.getElementById('story').open");
  EXPECT_EQ(browser.text("#story-title"), "Event 1: write conflict");
  EXPECT_THAT(browser.text("#story-text"),
              HasSubstr("neither had committed when the other started"));
  EXPECT_THAT(browser.text("#story-txns"), HasSubstr("\"session\":\"<b>bold</b>\""));
  shoot(browser, "serve-story");
  browser.click("#story button");
  browser.wait_for("!document.getElementById('story').open");
  service.kill();
  browser.wait_for("document.getElementById('link').textContent === 'no connection'");
}

TEST(ServePageTest, ItFitsAPhoneAndTheDarkAndLoadsNothingFromElsewhere) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({"--level", "si"});
  const Ran run = run_program({kOuroBinary, "run", "sim:si?fault=lost-update&rate=0.002", "--serve",
                               service.url(), "-n", "8000", "--rate", "2000", "-q"});
  EXPECT_NE(run.status, 254) << run.err;
  browser.open(service.url() + "/");
  browser.wait_for("document.querySelectorAll('#events li').length > 3");
  EXPECT_THAT(browser.complaints(), IsEmpty());
  for (const std::string& request : browser.requests()) {
    EXPECT_THAT(request, StartsWith(service.url()));
  }
  shoot(browser, "serve-light");
  const std::string light = browser.evaluate("getComputedStyle(document.body).backgroundColor");
  browser.prefer_dark(true);
  EXPECT_NE(browser.evaluate("getComputedStyle(document.body).backgroundColor"), light);
  shoot(browser, "serve-dark");
  browser.resize(360, 740);
  EXPECT_TRUE(browser.is_true("document.documentElement.scrollWidth <= 360"));
  shoot(browser, "serve-phone");
  browser.click("#events button");
  browser.wait_for("document.getElementById('story').open");
  EXPECT_TRUE(
      browser.is_true("document.getElementById('story').getBoundingClientRect().width <= 360"));
  shoot(browser, "serve-phone-story");
}

TEST(ServePageTest, ALockedServiceAsksForItsToken) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({"--token", "s3cret"});
  browser.open(service.url() + "/");
  browser.wait_for("!document.getElementById('ask').hidden");
  EXPECT_EQ(browser.text("#link"), "locked");
  browser.click("#token");
  browser.type("s3cret");
  browser.press("Enter");
  browser.wait_for("document.getElementById('link').textContent === 'live'");
  EXPECT_TRUE(browser.is_true("document.getElementById('ask').hidden"));
}

}  // namespace
}  // namespace ouro
