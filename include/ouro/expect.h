// What a test run is expected to show: which levels hold, which anomalies show and which do not.
//
// For continuous integration: a test that should show write skew and does not has stopped testing
// anything, which is as bad as a violation. As text, a line for each (docs/ci.md):
//
//   # PostgreSQL, repeatable read
//   si                      holds
//   serializable            violated
//   shows write-skew
//   lacks lost-update aborted-read
//
// Example (built and run as tests/example_expect.cc):
//
//   const auto expected = ouro::parse_expectation("serializable violated\nshows lost-update\n");
//   if (!expected.ok()) return fail(expected.error());
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::Serializable);
//   if (!verdict.ok()) return fail(verdict.error());
//   const ouro::Explanation explanation = ouro::explain(*history, *verdict);
//   const auto met = ouro::judge(*expected, {&*verdict, 1}, {&explanation, 1});
//   std::cout << (met.outcome == ouro::Outcome::Holds ? "as expected\n" : met.complaints[0] +
//   "\n");
//
// Thread safety: calls share no state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/explain.h"
#include "ouro/result.h"

namespace ouro {

struct Expectation {
  std::vector<std::pair<Level, Outcome>> levels;  // What is expected: Holds or Violated.
  std::vector<std::string> shows;                 // Patterns that must show, by name or id,
  std::vector<std::string> lacks;                 // and patterns that must not.

  [[nodiscard]] bool empty() const { return levels.empty() && shows.empty() && lacks.empty(); }
};

// Reads an expectation from text, or from the file at `path`. `name` stands in messages for the
// file. What follows a '#' is a comment. The error names the line that is not understood.
[[nodiscard]] Result<Expectation> parse_expectation(std::string_view text,
                                                    std::string_view name = "expectation");
[[nodiscard]] Result<Expectation> read_expectation(const std::string& path);

// Adds the names in `text`, separated by commas or blanks, to `names`, which is `shows` or `lacks`
// of an expectation. The error is a name that no pattern has, or no name at all.
[[nodiscard]] Status add_names(std::vector<std::string>& names, std::string_view text);

struct ExpectationMet {
  // Holds: met. Violated: not met. Undecided: a limit left it open.
  Outcome outcome = Outcome::Holds;
  // "expected write-skew, which does not show". If Undecided: what was left open, if it is known.
  std::vector<std::string> complaints;
};

// Compares an expectation with what was found. A level that is expected and has no verdict is a
// complaint. Whether an anomaly shows is decided by the stories in `explanations`.
// REQUIRES: for `lacks`, there is an explanation of each violated level.
[[nodiscard]] ExpectationMet judge(const Expectation& expectation,
                                   std::span<const Verdict> verdicts,
                                   std::span<const Explanation> explanations);

}  // namespace ouro
