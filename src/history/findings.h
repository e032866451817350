// Collects what the lint rules find: counts every occurrence, and describes the first few.
#pragma once

#include <string>
#include <vector>

#include "ouro/lint.h"

namespace ouro {

// In the order of the table in lint.cc.
enum class Rule : std::uint8_t {
  MixedRegisterAndList,
  ReadNobodyWrote,
  UnwrittenVersion,
  TimestampInversion,
  DuplicateElement,
  DuplicateWrite,
  WritesInitialValue,
  RepeatedWrite,
  AmbiguousDelete,
  AbortedRead,
  SessionClockInversion,
  DuplicateCommitTs,
  NegativeBalance,
  MixedKeyTypes,
  MixedValueTypes,
  NoClocks,
  PartialClocks,
  NoSessions,
  UnknownCompleted,
  PartialTimestamps,
  PartialLevels,
  UnobservedRead,
  UnknownSeen,
  UnknownUnseen,
  EmptyTransaction,
  SingleTransactionSession,
  Count,
};

class Findings {
 public:
  Findings(const History& history, std::size_t examples);

  // Counts one occurrence. `txn` is the transaction that it is about; invalid if it is about none.
  // describe() makes LintExample::what; it is called only while examples are wanted.
  template <class Describe>
  void add(Rule rule, TxnId txn, Describe&& describe) {
    Finding& finding = findings_[static_cast<std::size_t>(rule)];
    if (finding.count++ < examples_) {
      finding.examples.push_back({txn, where(txn), std::forward<Describe>(describe)()});
    }
  }

  // Where a transaction or an operation stands, as LintExample::place.
  [[nodiscard]] std::string where(TxnId txn) const;
  [[nodiscard]] std::string where(OpId op) const;
  // All findings, in the order of the rules, without rules that found nothing.
  [[nodiscard]] std::vector<Finding> take() &&;

 private:
  const History& history_;
  std::size_t examples_;
  std::vector<Finding> findings_;
};

// Rules about keys, values and who wrote what.
void lint_values(const History& history, Findings& findings);
// Rules about transactions: statuses, clocks, timestamps.
void lint_txns(const History& history, Findings& findings);

}  // namespace ouro
