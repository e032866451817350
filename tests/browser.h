// A real browser for tests of pages: Chromium's headless shell, driven over its debugging pipe.
//
//   Browser browser;
//   if (browser.unwanted()) GTEST_SKIP() << Browser::kUnwanted;
//   browser.open("file:///tmp/report.html");
//   browser.click("#theme");
//   EXPECT_EQ(browser.text("h1"), "bank.jsonl");
//   EXPECT_THAT(browser.complaints(), IsEmpty());
//
// Whatever the browser cannot do (it is not installed, does not answer in time, finds no such
// element) is a failure of the test that asks for it; calls after that return at once. Nothing
// outlives the object: neither processes nor files.
//
// Debian's package is chromium-headless-shell. A machine that is to do without says so by
// OURO_NO_BROWSER=1; otherwise its absence is a failure, too.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ouro {

class Browser {
 public:
  static constexpr std::string_view kUnwanted = "OURO_NO_BROWSER is set: no browser on purpose";

  // A window of 1280 × 800 in light colours, at about:blank.
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  [[nodiscard]] bool unwanted() const { return unwanted_; }

  // Goes to `url` and waits until all of it is loaded. Forgets earlier complaints and requests.
  void open(const std::string& url);
  void open(const std::filesystem::path& file);

  // The value of a JavaScript expression, as JSON; promises are waited for.
  std::string evaluate(const std::string& expression);
  bool is_true(const std::string& expression) { return evaluate(expression) == "true"; }
  // Waits until the expression is true. If it does not become true in time, the test fails.
  void wait_for(const std::string& expression);
  // What the first element of the CSS selector says; "" if there is none.
  std::string text(const std::string& selector);
  std::size_t count(const std::string& selector);

  // Real events of mouse and keyboard. The element is scrolled into view, and the mouse moved to
  // its middle (of a line in SVG, to the middle of the line). If something covers it, the test
  // fails.
  void hover(const std::string& selector);
  void click(const std::string& selector);
  // "Tab", "Enter", "Escape", "ArrowLeft" …, or one character.
  void press(const std::string& key);
  void type(const std::string& text);

  void resize(int width, int height);  // Sets the size of the page, in its own pixels.
  void prefer_dark(bool dark);
  void use_touch(bool touch);

  enum class Extent { Window, Page };
  // Writes a PNG.
  void screenshot(const std::filesystem::path& file, Extent extent = Extent::Page);

  // What the page has complained about: exceptions, console errors and warnings, and what the
  // browser logs itself, such as resources that were blocked or not found.
  std::vector<std::string> complaints();
  // The addresses that the page asked for, its own included.
  std::vector<std::string> requests();

 private:
  void start(const std::string& program);
  void stop();
  void fail(const std::string& what);
  bool send(const std::string& message);
  // The next message; "" and a failure if none comes in time.
  std::string receive(std::chrono::steady_clock::time_point deadline);
  // Calls a method of the protocol; returns its "result" as JSON.
  std::string call(const std::string& method, const std::string& parameters = "{}");
  void note(const std::string& event);
  void mouse(const std::string& kind, double x, double y, int buttons);
  bool find(const std::string& selector, double& x, double& y);

  bool unwanted_ = false;
  bool broken_ = false;
  bool loaded_ = false;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::filesystem::path folder_;
  std::string session_;  // The protocol's name for the page.
  std::string received_;
  int last_id_ = 0;
  std::vector<std::string> complaints_;
  std::vector<std::string> requests_;
};

}  // namespace ouro
