// The page of the service in a real browser.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/browser.h"
#include "tests/page_rules.h"
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

std::string writer(const std::string& session, int start, int commit, int value,
                   const std::string& key = "x") {
  return fmt::format(
             R"({{"session":"{0}","start_ts":{1},"commit_ts":{2},"ops":[["r","{3}",null],["w","{3}",{4}]]}})",
             session, start, commit, key, value) +
         "\n";
}

TEST(ServePageTest, TheVerdictChangesLiveAndAViolationOpensItsExplanation) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  browser.open(service.url() + "/");
  browser.wait_for("document.getElementById('link').textContent === 'live'");
  EXPECT_EQ(browser.text("#word"), "Holds");
  EXPECT_EQ(browser.text("#why"), "No transaction came yet.");
  EXPECT_EQ(browser.text("#none"), "Nothing was found yet.");
  EXPECT_TRUE(browser.is_true("!document.getElementById('none').hidden"));
  ASSERT_EQ(service.post(writer("a", 1, 4, 1) + writer("<b>bold</b>", 2, 5, 2)).status, 200);
  browser.wait_for("document.getElementById('word').textContent === 'Violated'");
  browser.wait_for("document.querySelectorAll('#events .group').length === 1");
  browser.wait_for("document.getElementById('why').textContent === '1 × lost update'");
  EXPECT_THAT(browser.text("#events .kind"),
              AllOf(HasSubstr("lost update 1 event"), HasSubstr("overwrites an update"),
                    HasSubstr("on x 1 event today")));
  browser.click("#events summary");
  browser.wait_for("!!document.querySelector('.group button')");
  EXPECT_THAT(browser.text("#events .headline"),
              HasSubstr("lost update: sessions a, \"<b>bold</b>\""))
      << "shown as it is, not as markup";
  browser.wait_for("document.querySelectorAll('.tile path.curve[d]').length === 6");
  browser.click(".group button");
  browser.wait_for("!!document.querySelector('#story[open] .picture')");
  EXPECT_EQ(browser.text("#story-title"), "Event 1: lost update");
  EXPECT_THAT(browser.text("#story .plain"),
              HasSubstr("neither had committed when the other started"));
  EXPECT_EQ(browser.count("#story .graph .node"), 2u);
  EXPECT_EQ(browser.count("#story .graph .edge.k-rw"), 2u) << "each read what the other overwrote";
  EXPECT_EQ(browser.count("#events .headline b"), 0u);
  shoot(browser, "serve-story");
  browser.click("#story-txns summary");
  EXPECT_THAT(browser.text("#story-txns pre"), HasSubstr("\"session\":\"<b>bold</b>\""));
  // The address names the event, so it can be sent to somebody.
  EXPECT_EQ(browser.evaluate("location.hash"), "\"#event-1\"");
  browser.press("Escape");
  browser.wait_for("!document.getElementById('story').open && location.hash === ''");
  browser.evaluate("location.hash = 'event-1'; 0");
  browser.wait_for("!!document.querySelector('#story[open] .picture')");
  browser.click("#story > form button");
  browser.wait_for("!document.getElementById('story').open");
  service.kill();
  browser.wait_for("document.getElementById('link').textContent === 'no connection'");
}

TEST(ServePageTest, ItFitsAPhoneAndTheDarkAndLoadsNothingFromElsewhere) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({"--level", "si"});
  const Ran faulty = run_program({kOuroBinary, "generate", "-n", "1500", "--keys", "40", "-l", "si",
                                  "--timestamps", "--fault", "lost-update=0.02"});
  ASSERT_EQ(faulty.status, 0) << faulty.err;
  ASSERT_EQ(service.post(faulty.out).status, 200);
  browser.open(service.url() + "/");
  browser.wait_for("document.querySelectorAll('#events .group').length > 3");
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
  EXPECT_EQ(browser.evaluate(kUnreadable), "[]");
  shoot(browser, "serve-phone");
  browser.click("#events summary");
  browser.wait_for("!!document.querySelector('.group button')");
  browser.click(".group button");
  browser.wait_for("!!document.querySelector('#story[open] .picture')");
  EXPECT_EQ(browser.evaluate(kUnreadable), "[]");
  EXPECT_EQ(browser.evaluate(kClashes), "[]");
  EXPECT_TRUE(
      browser.is_true("document.getElementById('story').getBoundingClientRect().width <= 360"));
  shoot(browser, "serve-phone-story");
}

// Two sessions with long names lose an update of a row with ten columns under a long key; and many
// sessions have conflicts on many keys.
std::string crowded_batch() {
  std::string text;
  const auto add = [&](const std::string& session, int start, int commit, const std::string& ops) {
    text += fmt::format(R"({{"session":"{}","start_ts":{},"commit_ts":{},"ops":[{}]}})", session,
                        start, commit, ops) +
            "\n";
  };
  const std::string key = "table/" + std::string(194, 'k');
  const auto row = [](int n) {
    return fmt::format(
        R"({{"c0":{},"c1":1,"c2":2,"c3":3,"c4":4,"c5":5,"c6":6,"c7":7,"c8":8,"c9":9}})", n);
  };
  add("setup", 1, 2, fmt::format(R"(["w","{}",{}])", key, row(0)));
  for (const int i : {1, 2}) {
    add(fmt::format("clerk {} {}", i, std::string(100, 'W')), 2 + i, 5 + i,
        fmt::format(R"(["r","{0}",{1}],["w","{0}",{2}])", key, row(0), row(i)));
  }
  for (int i = 0; i < 300; ++i) {
    const int start = 10 + 10 * (i / 2);
    add(fmt::format("session {}", i), start + i % 2, start + 5 + i % 2,
        fmt::format(R"(["w","item {}",{}])", i / 2 % 30, i));
  }
  return text;
}

TEST(ServePageTest, ManyEventsOnManyScreens) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({"--level", "si"});
  ASSERT_EQ(service.post(crowded_batch()).status, 200);
  browser.open(service.url() + "/");
  browser.wait_for("document.querySelectorAll('#events .group').length > 10");
  EXPECT_TRUE(
      browser.is_true("fetch('/').then(answer => answer.text())"
                      ".then(page => /id=\"none\"[^>]* hidden/.test(page))"))
      << "that nothing was found is not said before that is known";
  EXPECT_THAT(browser.text("#events"), HasSubstr("lost update 1 event"));
  browser.wait_for(
      "document.getElementById('why').textContent === '1 × lost update, 150 × write conflict'");
  const auto look = [&](int width, const std::string& what) {
    for (const bool dark : {false, true}) {
      browser.prefer_dark(dark);
      EXPECT_EQ(browser.evaluate(kUnreadable), "[]") << width << what;
      EXPECT_EQ(browser.evaluate(kClashes), "[]") << width << what;
      shoot(browser, fmt::format("serve-{}-{}{}", width, dark ? "dark" : "light", what));
    }
    EXPECT_EQ(browser.evaluate("document.documentElement.scrollWidth"), std::to_string(width));
  };
  for (const int width : {360, 768, 1440}) {
    browser.resize(width, 900);
    look(width, "");
    browser.evaluate("location.hash = 'event-1'; 0");
    browser.wait_for("!!document.querySelector('#story[open] .picture')");
    EXPECT_TRUE(
        browser.is_true("/c0:[12]/.test(document.querySelector('#story .picture').textContent)"));
    look(width, "-story");
    browser.press("Escape");
    // The page forgets the address a moment after the story was closed.
    browser.wait_for("!document.querySelector('#story[open]') && location.hash === ''");
  }
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

TEST(ServePageTest, ALockedServiceAsksForItsToken) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({"--token", "s3cret"});
  browser.open(service.url() + "/");
  browser.wait_for("!document.getElementById('ask').hidden");
  EXPECT_EQ(browser.text("#link"), "locked");
  EXPECT_TRUE(browser.is_true("document.getElementById('main').hidden"))
      << "locked does not mean that nothing was found";
  shoot(browser, "serve-locked");
  browser.click("#token");
  browser.type("wrong");
  browser.press("Enter");
  browser.wait_for("!document.getElementById('wrong').hidden");
  browser.evaluate("document.getElementById('token').value = ''; 0");
  browser.click("#token");
  browser.type("s3cret");
  browser.press("Enter");
  browser.wait_for("document.getElementById('link').textContent === 'live'");
  EXPECT_TRUE(browser.is_true("document.getElementById('ask').hidden"));
  // Links show the token, too.
  browser.click("footer a[href='/metrics']");
  browser.wait_for("document.getElementById('story').open");
  EXPECT_THAT(browser.text("#story-body"), HasSubstr("ouro_transactions_total"));
}

TEST(ServePageTest, EventsAreGroupedAndFilteredAndWhatIsNewIsSaid) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  browser.open(service.url() + "/");
  browser.wait_for("document.getElementById('link').textContent === 'live'");
  // Three writers that overlap, of each of two keys: each key has two conflicts, one after the
  // other.
  for (const std::string key : {"apples", "pears"}) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(service.post(writer(key + std::to_string(i), 1 + i, 10 + i, i, key)).status, 200);
    }
  }
  browser.wait_for("document.querySelectorAll('#events .group').length === 2");
  EXPECT_THAT(browser.text("#total"), HasSubstr("so far"));
  browser.evaluate(R"(window.choose = (name, value) => {
    const field = document.querySelector(`[data-filter=${name}]`);
    field.value = value;
    field.dispatchEvent(new Event(name === 'key' ? 'input' : 'change'));
  }; choose('key', 'pear'); 0)");
  EXPECT_EQ(browser.count("#events .group"), 1u);
  EXPECT_THAT(browser.text("#events summary"), HasSubstr("pears"));
  browser.evaluate("choose('key', 'plums'); 0");
  EXPECT_THAT(browser.text("#events"), HasSubstr("No event is like that."));
  browser.click("#events button");
  EXPECT_EQ(browser.count("#events .group"), 2u);
  browser.evaluate("choose('kind', 'lost update'); 0");
  EXPECT_EQ(browser.count("#events .group"), 2u);
  browser.evaluate("choose('kind', ''); 0");
  // A story of one transaction has no arrows; its key is known all the same.
  ASSERT_EQ(service
                .post(R"({"session":"z","start_ts":20,"commit_ts":21,"ops":[["r","z",1]]})"
                      "\n")
                .status,
            200);
  browser.wait_for("document.querySelectorAll('#events .group').length === 3");
  EXPECT_THAT(browser.text("#events summary"), HasSubstr("on z"));
  // Somebody looked an hour ago, at the first event. The page that is still open would say every
  // second that somebody looks now.
  browser.evaluate(
      "localStorage.setItem('ouro-seen-' + location.host, "
      "JSON.stringify({event: 1, at: Date.now() - 3600e3})); Storage.prototype.setItem = () => {}; "
      "0");
  browser.open(service.url() + "/");
  browser.wait_for("!document.getElementById('away').hidden");
  EXPECT_THAT(browser.text("#away"), AllOf(HasSubstr("While you were away"), HasSubstr("1.0 h ago"),
                                           HasSubstr("× lost update"), HasSubstr("restarted")));
  shoot(browser, "serve-away");
  browser.click("#away button");
  EXPECT_TRUE(browser.is_true("document.getElementById('away').hidden"));
  EXPECT_THAT(browser.text("#filters"), HasSubstr("Only what is new"));
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

TEST(ServePageTest, EverySourceHasItsVerdictAndItsEvents) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  const std::string type = "application/x-ndjson";
  const std::string conflict = writer("a", 1, 4, 1) + writer("b", 2, 5, 2);
  ASSERT_EQ(service.post(conflict, type, {{"X-Ouro-Source", "shop"}}).status, 200);
  ASSERT_EQ(service.post(conflict, type, {{"X-Ouro-Source", "<i>bank"}}).status, 200);
  ASSERT_EQ(service.post(writer("c", 1, 2, 3)).status, 200);
  browser.open(service.url() + "/");
  browser.wait_for("document.querySelectorAll('#events .group').length === 2");
  browser.wait_for("document.querySelectorAll('#sources .badge').length === 3");
  browser.wait_for("document.querySelectorAll('#sources .badge.holds').length === 1");
  EXPECT_THAT(browser.text(".kind h3"), StartsWith("lost update 2 events"));
  browser.click("#sources li:nth-child(2) button");
  EXPECT_EQ(browser.count("#events .group"), 1u);
  EXPECT_THAT(browser.text("#events .chip"), HasSubstr("shop"));
  // Its recorder takes it back.
  ASSERT_EQ(service.post("the log broke", "text/plain", {}, "/source/shop/undecided").status, 200);
  browser.wait_for("document.querySelectorAll('#sources .badge.undecided').length === 1");
  browser.wait_for("document.querySelectorAll('#events .group.withdrawn').length === 1");
  browser.click("#events .kind.undecided summary");
  browser.wait_for("!!document.querySelector('#events .kind.undecided .group li button')");
  browser.click("#events .kind.undecided .group li button");
  EXPECT_THAT(browser.text("#story-body"), HasSubstr("the log broke."));
  EXPECT_THAT(browser.text("#story-facts"), StartsWith("source shop, reported"));
  EXPECT_THAT(browser.complaints(), IsEmpty());
}

TEST(ServePageTest, TheThemeIsRemembered) {
  Browser browser;
  if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
  ServeProcess service({});
  browser.open(service.url() + "/");
  const std::string shade = "getComputedStyle(document.body).backgroundColor";
  const std::string light = browser.evaluate(shade);
  browser.click("#theme");
  browser.click("#theme");
  const std::string dark = browser.evaluate(shade);
  EXPECT_NE(light, dark);
  browser.open(service.url() + "/");
  EXPECT_EQ(browser.evaluate(shade), dark);
}

}  // namespace
}  // namespace ouro
