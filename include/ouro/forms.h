// Verdicts and stories in the forms that other programs read: DOT, JUnit, SARIF, Elle's EDN; and
// HTML, for browsers.
//
// docs/ci.md shows each, docs/html.md the last one. All text is valid whatever bytes the history
// holds: what is no UTF-8, or no character that XML knows, becomes U+FFFD.
//
// Thread safety: calls share no state.
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

// All stories as one graph for Graphviz: a cluster each, a node a transaction with its operations,
// an edge with its kind and key from the operation that proves it to the one it is about. Edges
// that hold only in some case are dashed; their tooltips say in which.
[[nodiscard]] std::string to_dot(const History& history, std::span<const Explanation> explanations);

// What Elle's checker returns, as EDN: {:valid? … :anomaly-types (…) :anomalies {…} :not #{…}
// :also-not #{…}}, a line.
[[nodiscard]] std::string to_edn(const History& history, std::span<const Verdict> verdicts,
                                 std::span<const Explanation> explanations);

// One history's part of a report on several.
struct Checked {
  std::string_view name;  // What to call the history; where it is.
  const History* history = nullptr;
  std::span<const Verdict> verdicts;
  std::span<const Explanation> explanations;
  double seconds = 0;               // What reading and checking took.
  std::span<const Verdict> others;  // At levels that were not asked for, if they are known.
  // What came of what was expected; null: nothing was, but that the levels hold.
  const ExpectationMet* met = nullptr;
};

// HTML: one page that needs nothing else, neither network nor files. For each history: the verdict
// of each level, each story in words and as a graph, sessions over time where clocks are known,
// counts; and all that as plain text. What runs in it, and what it may load (nothing), is fixed by
// a policy in its head; keys and values are data, never markup.
//
// The page stays below some megabytes, however many and however large the histories are; it says
// what it leaves out.
class HtmlReport {
 public:
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  [[nodiscard]] std::string finish() const;

 private:
  std::vector<std::string> histories_;  // As JSON.
  std::string text_;
  std::size_t bytes_ = 0;
};

// JUnit: a test case for each history and level; a violation is a failure, what is undecided or
// could not be read is an error. Where something was expected, a case of its own fails if that was
// not met; violations are only told.
class JunitReport {
 public:
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  // The whole document.
  [[nodiscard]] std::string finish() const;

 private:
  std::string suites_;
  std::size_t tests_ = 0, failures_ = 0, errors_ = 0;
};

// SARIF 2.1.0: a result for each story, at the line of its first transaction, with the others as
// related places; a rule for each pattern that shows. What is undecided is an open result; what
// could not be read is a notification.
class SarifReport {
 public:
  void add(const Checked& checked);
  void add(std::string_view name, const Error& error);
  [[nodiscard]] std::string finish() const;

 private:
  std::vector<std::string> results_;        // As JSON.
  std::vector<std::string> notifications_;  // As JSON.
  std::vector<Pattern> rules_;
};

}  // namespace ouro
