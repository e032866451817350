#include "ouro/lint.h"

#include <fmt/format.h>

#include <array>

#include "history/findings.h"

namespace ouro {
namespace {

constexpr std::array<LintRule, static_cast<std::size_t>(Rule::Count)> kRules{{
    {"mixed-register-and-list", Severity::Error, "a key is used both as a register and as a list",
     "use separate keys"},
    {"read-nobody-wrote", Severity::Error, "a read of a value that no recorded operation wrote",
     "record all writes and initial values; if they are all there, the database made it up"},
    {"unwritten-version", Severity::Error, "a version order lists a value that nobody wrote",
     "record all writes, or correct the version order"},
    {"timestamp-inversion", Severity::Error, "a transaction committed before its snapshot",
     "check that start_ts and commit_ts are not swapped"},
    {"duplicate-element", Severity::Warning, "an element was appended to one list more than once",
     "an element that is read may be either; with unique elements more violations show"},
    {"duplicate-write", Severity::Warning, "two transactions wrote the same value to one key",
     "a read may have returned either; with unique values more violations show"},
    {"writes-initial-value", Severity::Warning, "a write of the value the key had at the start",
     "a read may have returned either; with unique values more violations show"},
    {"repeated-write", Severity::Warning, "a transaction wrote the same value to a key twice",
     "write unique values, or intermediate reads go unseen"},
    {"ambiguous-delete", Severity::Warning, "a delete that reads cannot tell from other absences",
     "record a tombstone of its own for every delete if the database has one"},
    {"aborted-read", Severity::Warning, "a read of what an aborted transaction wrote",
     "make sure that the outcome is known; record 'unknown' for time-outs, not 'aborted'"},
    {"session-clock-inversion", Severity::Warning,
     "a transaction was invoked before the one before it in its session completed",
     "give every client thread a session of its own"},
    {"duplicate-commit-ts", Severity::Warning, "two writing transactions share a commit timestamp",
     "record the logical part of the timestamp as well"},
    {"negative-balance", Severity::Warning, "a read of a negative balance of a bank",
     "if transfers check balances, one of them missed another; what they checked is not recorded, "
     "so no level forbids it"},
    {"mixed-key-types", Severity::Warning, "a key exists both as a number and as text",
     "make sure that they are meant to be different keys"},
    {"mixed-value-types", Severity::Warning, "a key holds both numbers and text",
     "make sure that 1 and \"1\" are meant to be different values"},
    {"no-clocks", Severity::Warning, "no transaction has clocks",
     "record invoked and completed: without them nothing is said about real time, which some "
     "levels are about; 'ouro levels' says which"},
    {"partial-clocks", Severity::Warning, "a transaction without clocks, while others have them",
     "record clocks for all, or real-time order is only partly checked"},
    {"no-sessions", Severity::Warning, "a transaction of which no session is recorded",
     "record which client ran it: session order, which most levels are about, is checked between "
     "the others only"},
    {"unknown-completed", Severity::Warning, "a transaction of unknown outcome with a completion",
     "leave completed out: it may have committed later, so real-time order may seem violated"},
    {"partial-timestamps", Severity::Warning,
     "a committed transaction without timestamps, while others have them",
     "record timestamps for all committed transactions"},
    {"partial-levels", Severity::Warning,
     "a committed transaction that states no level, while others do",
     "state the level of every transaction; 'ouro check' takes serializable for the others"},
    {"unobserved-read", Severity::Note, "a read without a recorded result",
     "such reads are not checked"},
    {"unknown-seen", Severity::Note, "a transaction of unknown outcome that others read from",
     "it counts as committed"},
    {"unknown-unseen", Severity::Note, "a transaction of unknown outcome that nobody read from",
     "it is left out"},
    {"empty-transaction", Severity::Note, "a transaction without operations",
     "it takes part in session and real-time order only"},
    {"single-transaction-session", Severity::Note, "a session with a single transaction",
     "session guarantees say nothing about it"},
}};

}  // namespace

std::string_view name(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames{"error", "warning", "note"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::span<const LintRule> lint_rules() { return kRules; }

Findings::Findings(const History& history, std::size_t examples)
    : history_(history), examples_(examples), findings_(kRules.size()) {
  for (std::size_t i = 0; i < kRules.size(); ++i) findings_[i].rule = &kRules[i];
}

std::string Findings::where(TxnId txn) const {
  if (!txn.valid()) return std::string(history_.file());
  const Place place = history_.place(txn);
  if (place.unit != PlaceUnit::None) return place.to_string();
  return fmt::format("transaction {}", txn.value + 1);
}

std::string Findings::where(OpId op) const {
  const Place place = history_.place(op);
  return place.unit != PlaceUnit::None ? place.to_string() : where(history_.txn_of(op));
}

std::vector<Finding> Findings::take() && {
  std::erase_if(findings_, [](const Finding& finding) { return finding.count == 0; });
  return std::move(findings_);
}

std::vector<Finding> lint(const History& history, std::size_t examples) {
  Findings findings(history, examples);
  lint_values(history, findings);
  lint_txns(history, findings);
  return std::move(findings).take();
}

}  // namespace ouro
