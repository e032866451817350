// History hygiene: what makes a history hard or impossible to judge, before anyone judges it.
//
// A finding is about the recording, not about the database: lint() decides no level. A history
// without errors can be checked; warnings say what weakens or surprises; notes are for the curious.
//
// Example (built and run as tests/example_lint.cc):
//
//   for (const ouro::Finding& finding : ouro::lint(history))
//     std::cout << finding.rule->id << ": " << finding.count << '\n';
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"

namespace ouro {

enum class Severity : std::uint8_t { Error, Warning, Note };
[[nodiscard]] std::string_view name(Severity severity);  // "error" …

struct LintRule {
  std::string_view id;  // "duplicate-write"
  Severity severity = Severity::Note;
  std::string_view what;    // One line.
  std::string_view advice;  // What to do about it.
};

// Every rule, errors first.
[[nodiscard]] std::span<const LintRule> lint_rules();

struct LintExample {
  TxnId txn;          // Invalid if it is about no transaction.
  std::string place;  // "bank.jsonl:97"; "transaction 4" where the source has no lines.
  std::string what;   // "w x=9 repeats bank.jsonl:12"
};

struct Finding {
  const LintRule* rule = nullptr;
  std::uint64_t count = 0;            // All occurrences.
  std::vector<LintExample> examples;  // The first few.
};

// What was found, in the order of lint_rules(); rules that found nothing are left out.
//
// Cost: linear, about 30 bytes per write.
[[nodiscard]] std::vector<Finding> lint(const History& history, std::size_t examples = 3);

}  // namespace ouro
