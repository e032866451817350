// The page that checks histories in the browser (make web), in a real one. OURO_TRY_PAGE names it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/browser.h"
#include "tests/page_rules.h"

namespace ouro {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class TryPageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (browser_.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
    const char* const page = std::getenv("OURO_TRY_PAGE");
    ASSERT_NE(page, nullptr) << "run scripts/web --test, which sets OURO_TRY_PAGE";
    browser_.open(std::filesystem::path(page));
    wait_for_verdict();
  }
  // Screenshots to look at, if OURO_SCREENSHOTS names a folder.
  void shoot(const std::string& name) {
    const char* folder = std::getenv("OURO_SCREENSHOTS");
    if (folder != nullptr) browser_.screenshot(std::filesystem::path(folder) / (name + ".png"));
  }
  void wait_for_verdict() { browser_.wait_for("!document.getElementById('check').disabled"); }
  void check(const std::string& lines) {
    browser_.evaluate("{ const field = document.getElementById('history'); field.value = " + lines +
                      "; field.dispatchEvent(new Event('input')); } 0");
    browser_.click("#check");
    wait_for_verdict();
  }
  std::string inside(const std::string& what) {
    browser_.wait_for(
        "!!document.getElementById('report').contentDocument?.querySelector('main, .card')");
    return browser_.evaluate("document.getElementById('report').contentDocument." + what);
  }
  Browser browser_;
};

TEST_F(TryPageTest, ShowsTheVerdictOnAnExampleAndLoadsNothing) {
  EXPECT_THAT(browser_.text("#state"), HasSubstr("violated, 2 transactions"));
  EXPECT_THAT(
      inside("body.innerText"),
      AllOf(HasSubstr("Lost update"), HasSubstr("each overwrote what the other relied on")));
  EXPECT_TRUE(browser_.is_true("document.getElementById('level').length > 10"));
  EXPECT_THAT(browser_.complaints(), IsEmpty());
  for (const std::string& request : browser_.requests()) {
    EXPECT_TRUE(request.starts_with("file:") || request.starts_with("blob:") ||
                request.starts_with("about:") || request.starts_with("data:"))
        << request;
  }
  shoot("try-light");
}

TEST_F(TryPageTest, ChecksWhatIsPastedAtTheLevelThatIsChosen) {
  browser_.evaluate("document.getElementById('level').value = 'serializable'; 0");
  check(R"('{"session":"a","ops":[["w","x",1]]}\n{"session":"b","ops":[["r","x",1]]}')");
  EXPECT_THAT(browser_.text("#state"), HasSubstr("holds, 2 transactions"));
  check(R"('{"session":"a","ops":[["w","x",1]]}\n{"session":"b","op":[]}')");
  EXPECT_THAT(browser_.text("#problem"), AllOf(HasSubstr(":2:"), HasSubstr("did you mean 'ops'")));
  EXPECT_TRUE(browser_.is_true("document.getElementById('report').hidden"));
  check("''");
  EXPECT_THAT(browser_.text("#problem"), HasSubstr("is empty"));
}

TEST_F(TryPageTest, FitsAPhoneAndTheDark) {
  browser_.resize(360, 740);
  EXPECT_TRUE(browser_.is_true("document.documentElement.scrollWidth <= 360"));
  EXPECT_EQ(browser_.evaluate(kUnreadable), "[]");
  shoot("try-phone");
  browser_.prefer_dark(true);
  EXPECT_EQ(browser_.evaluate(kUnreadable), "[]");
  shoot("try-dark");
}

}  // namespace
}  // namespace ouro
