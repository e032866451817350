// Plays the classic anomalies on a database and tells which of them each of its isolation levels
// prevents: the table that the Hermitage project made known.
//
// Each test is a fixed interleaving of two or three transactions, step by step, on connections of
// their own. What clients saw is recorded as a history, and the checker judges it: an anomaly
// occurs if the history violates the weakest level that forbids that anomaly. Nothing is expected
// of a database beforehand.
//
// Example (built and run as tests/example_hermitage.cc):
//
//   const auto report = ouro::hermitage({.url = "sim:read-committed"});
//   if (!report.ok()) return fail(report.error());
//   std::cout << ouro::describe(*report);
//
// Thread safety: calls share no state, but two on one database disturb each other.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/level.h"
#include "ouro/result.h"

namespace ouro {

struct HermitageTest {
  std::string_view name;     // "P4"
  std::string_view meaning;  // "lost update"
  // The weakest level that forbids what is tried here: the anomaly occurs if a history of the test
  // violates this level.
  Level level = Level::Serializable;
  bool classic = true;  // It has a column in the table that people know; false: another form.
  // The steps, as src/run/script.h describes them, for databases with rows and for those that have
  // keys alone. Empty: such databases cannot do it.
  std::string_view rows;
  std::string_view keys;
};
// All tests, in the order of the table.
[[nodiscard]] std::span<const HermitageTest> hermitage_tests();

enum class HermitageOutcome {
  Prevented,   // The level that forbids the anomaly holds.
  Occurs,      // The level that forbids the anomaly is violated.
  Impossible,  // The database has no operations for the test.
  Unclear,     // No verdict: a step failed or was not answered.
};
[[nodiscard]] std::string_view name(HermitageOutcome outcome);  // "prevented"

struct HermitageStep {
  std::string client;    // "T1"
  std::string what;      // "begin", "r x", "w y 18"
  std::string answer;    // What was read, or why it was refused; empty if there is nothing to say.
  bool waited = false;   // It waited for another transaction.
  bool refused = false;  // It was not done, and the transaction was over.
};

struct HermitageCell {
  HermitageOutcome outcome = HermitageOutcome::Unclear;
  bool waited = false;               // A step waited for another transaction.
  bool refused = false;              // The database aborted a transaction.
  bool broken = false;               // The history violates what the isolation level promises.
  std::string breach;                // What the checker calls that: "write skew".
  std::string anomaly;               // Occurs: what the checker calls it, "lost update".
  std::vector<Level> gave;           // The strongest levels that hold.
  std::vector<HermitageStep> steps;  // In the order in which they were begun.
  std::string history;               // What was recorded, in native text.
  std::string reason;                // Impossible, Unclear: why.
};

// One isolation level of a database.
struct HermitageRow {
  std::string database;   // "PostgreSQL 15.20"
  std::string isolation;  // "read committed"
  std::string options;    // What chooses it in a URL: "isolation=rc". Empty: it is the only one.
  Level claims = Level::Serializable;  // What it promises.
  std::vector<HermitageCell> cells;    // One for each of HermitageReport::tests.
  [[nodiscard]] bool broken() const;   // Whether a history violates `claims`.
};

struct HermitageReport {
  std::vector<HermitageTest> tests;
  std::vector<HermitageRow> rows;
  std::vector<std::string> notes;  // What else the user should know, one line each.
};

struct HermitageOptions {
  std::string url;        // As RunOptions::url.
  std::string start;      // As RunOptions::start.
  std::string isolation;  // Only this one. Empty: all that the database offers, unless `url` says.
  std::vector<std::string> only = {};         // Names of tests. Empty: all.
  std::chrono::milliseconds patience{5'000};  // No answer is waited for longer.
  // Turns true: ends soon, with the rows that are complete. May be null.
  const std::atomic<bool>* stop = nullptr;
  // Called before each isolation level; may be empty.
  std::function<void(const std::string& what)> progress = {};
};

// Plays the tests. The error says why that was not possible at any level. Takes about a second per
// level, and for each step that waits a tenth to half a second.
[[nodiscard]] Result<HermitageReport> hermitage(const HermitageOptions& options);

// The table as text, as Markdown, and all there is to know as one line of JSON.
[[nodiscard]] std::string describe(const HermitageReport& report);
[[nodiscard]] std::string to_markdown(const HermitageReport& report);
[[nodiscard]] std::string to_json(const HermitageReport& report);
// The steps of every test, with their answers, one table per test and level.
[[nodiscard]] std::string describe_steps(const HermitageReport& report);

}  // namespace ouro
