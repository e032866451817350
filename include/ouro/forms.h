// Verdicts and stories in the forms that other programs read: DOT, JUnit and SARIF (Elle's EDN is
// in ouro/elle.h); and HTML, for browsers. docs/ci.md shows an example of each, docs/html.md
// describes the HTML page.
//
// Example (built and run as tests/example_forms.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto found = ouro::examine(*history, {.levels = {ouro::Level::Si}});
//   if (!found.ok()) return fail(found.error());
//   ouro::HtmlReport page;
//   page.add({.name = "the bank",
//             .history = &*history,
//             .verdicts = found->verdicts,
//             .explanations = found->explanations});
//   std::ofstream("bank.html") << page.finish();
//   std::cout << ouro::to_dot(*history, found->explanations);
//
// Nothing here writes files or checks anything; what check() and explain() found is turned into
// text. The text is valid whatever bytes the history holds: bytes that are no UTF-8, and characters
// that XML does not allow, become U+FFFD. Cost: linear in what is reported.
//
// Thread safety: calls share no state; use each report object from one thread at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/check.h"
#include "ouro/expect.h"
#include "ouro/explain.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

// All stories as one graph for Graphviz. Each story is a cluster, each transaction a node that
// lists its operations. Each edge, labelled with its kind and key, leads from one operation to
// another. Edges that hold only in some case are dashed; their tooltips say in which.
[[nodiscard]] std::string to_dot(const History& history, std::span<const Explanation> explanations);

// What was found out about one history, to be added to a report. The report copies what it needs.
struct Checked {
  std::string_view name;             // What to call the history: usually its path.
  const History* history = nullptr;  // REQUIRES: not null.
  std::span<const Verdict> verdicts;
  std::span<const Explanation> explanations;
  double seconds = 0;               // How long reading and checking took.
  std::span<const Verdict> others;  // Examination::others, if known.
  // Whether the expectation was met. Null: there was none, except that all levels should hold.
  const ExpectationMet* met = nullptr;
};

// HTML: one page that needs nothing else, neither network nor files. For each history: the verdict
// of each level, each story in words and as a graph, sessions over time where clocks are known,
// counts; and all that as plain text. A content security policy in the page forbids it to load
// anything and to run any other script; keys and values are data, never markup.
//
// The page stays below some megabytes, however many and however large the histories are; it says
// what it leaves out.
class HtmlReport {
 public:
  void add(const Checked& checked);
  // A history that could not be read or checked.
  void add(std::string_view name, const Error& error);
  // The whole page.
  [[nodiscard]] std::string finish() const;

 private:
  std::vector<std::string> histories_;  // As JSON.
  std::string text_;                    // The plain text so far.
  std::size_t bytes_ = 0;               // The size so far.
};

// JUnit: a test case for each history and level. A violation is a failure; a level that is
// undecided, or a history that could not be read, is an error. If something was expected, there is
// one more test case, which fails if that was not met; violations are then no failures.
class JunitReport {
 public:
  void add(const Checked& checked);
  // A history that could not be read or checked.
  void add(std::string_view name, const Error& error);
  // The whole document.
  [[nodiscard]] std::string finish() const;

 private:
  std::string suites_;
  std::size_t tests_ = 0, failures_ = 0, errors_ = 0;
};

// SARIF 2.1.0: a result for each story, at the line of its first transaction, with the other
// transactions as related locations; a rule for each pattern that shows. An undecided level is a
// result of kind "open"; a history that could not be read is a notification.
class SarifReport {
 public:
  void add(const Checked& checked);
  // A history that could not be read or checked.
  void add(std::string_view name, const Error& error);
  // The whole document.
  [[nodiscard]] std::string finish() const;

 private:
  std::vector<std::string> results_;        // As JSON.
  std::vector<std::string> notifications_;  // As JSON.
  std::vector<Pattern> rules_;
};

}  // namespace ouro
