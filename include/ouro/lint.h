// Finds what makes a history hard or impossible to judge, before anyone judges it.
//
// A finding is about the recording, not about the database: lint() decides no level. An error says
// that check() may refuse the history or misjudge it; a warning, that a verdict may say less than
// expected; a note is for the curious.
//
// Example (built and run as tests/example_lint.cc):
//
//   for (const ouro::Finding& finding : ouro::lint(history))
//     std::cout << finding.rule->id << ": " << finding.count << '\n';
//
// Thread safety: calls share no state.
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
  std::string_view what;    // What was found, in one line.
  std::string_view advice;  // What to do about it, in one line.
};

// Every rule, errors first.
[[nodiscard]] std::span<const LintRule> lint_rules();

struct LintExample {
  TxnId txn;          // Invalid if the finding is not about a transaction.
  std::string place;  // "bank.jsonl:97", or "transaction 4" if no place in a file is known.
  std::string what;   // "w x=9 repeats bank.jsonl:12"
};

struct Finding {
  const LintRule* rule = nullptr;
  std::uint64_t count = 0;            // How often it was found.
  std::vector<LintExample> examples;  // The first ones.
};

// Applies all rules to `history`. Returns what was found, in the order of lint_rules(), with at
// most `examples` examples of each; rules that found nothing are left out.
//
// Cost: expected linear time; about 30 bytes of memory for each write.
[[nodiscard]] std::vector<Finding> lint(const History& history, std::size_t examples = 3);

}  // namespace ouro
