// What a test run is expected to show: which levels hold, which anomalies show and which do not.
//
// For continuous integration: a run that is to show write skew and does not is a blind test, which
// is as bad as a violation. As text, a line each (docs/ci.md):
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
  std::vector<std::pair<Level, Outcome>> levels;  // Holds or Violated.
  std::vector<std::string> shows;                 // Names or ids of patterns, as they were given.
  std::vector<std::string> lacks;

  [[nodiscard]] bool empty() const { return levels.empty() && shows.empty() && lacks.empty(); }
};

// The errors name the line. `name` stands for the file.
[[nodiscard]] Result<Expectation> parse_expectation(std::string_view text,
                                                    std::string_view name = "expectation");
[[nodiscard]] Result<Expectation> read_expectation(const std::string& path);

// Adds to `shows` or `lacks` a list of names with commas or blanks between them; the error is a
// name that no pattern has.
[[nodiscard]] Status add_names(std::vector<std::string>& names, std::string_view text);

struct ExpectationMet {
  Outcome outcome = Outcome::Holds;     // Violated: not met. Undecided: a level is.
  std::vector<std::string> complaints;  // "expected write-skew, which does not show"
};

// What came of it. A level that is expected and has no verdict is a complaint; `lacks` is about
// what the explanations tell, so it takes one of each level violated.
[[nodiscard]] ExpectationMet judge(const Expectation& expectation,
                                   std::span<const Verdict> verdicts,
                                   std::span<const Explanation> explanations);

}  // namespace ouro
