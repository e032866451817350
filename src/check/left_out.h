// What a verdict leaves out: parts of a level that the history does not have what it takes to
// check. Decided here only; verdicts carry it and reports tell it.
#pragma once

#include <cstdint>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

// Counts what decides that, also for a history that comes in pieces.
class Coverage {
 public:
  // Adds a history, or the next piece of one. Linear in its operations.
  void add(const History& history);

  // What a verdict at `level` leaves out if it holds by `evidence`. Empty: nothing. Of `unclear`
  // predicate reads the version set does not say what they saw.
  [[nodiscard]] std::vector<LeftOut> left_out(Level level, Evidence evidence,
                                              std::uint64_t unclear = 0) const;
  // The same with all that is counted for it, even if it was not met: counts may be zero.
  [[nodiscard]] std::vector<LeftOut> counted(Level level, Evidence evidence,
                                             std::uint64_t unclear = 0) const;

 private:
  void add_txn(const History& history, TxnId txn);
  void add_balances(const History& history, TxnId txn);

  std::uint64_t txns_ = 0;         // All counts are of transactions that committed.
  std::uint64_t unclocked_ = 0;    // Without `invoked` or without `completed`.
  std::uint64_t sessionless_ = 0;  // Of which nobody knows in which session they were.
  std::uint64_t reads_ = 0;
  std::uint64_t unrecorded_ = 0;  // Reads whose result is not known.
  std::uint64_t predicates_ = 0;  // Selects and aggregates,
  std::uint64_t unplaced_ = 0;    // and of these, those that do not say what they saw.
  std::uint64_t balances_ = 0;    // Reads of an account of a bank that returned a number,
  std::uint64_t negative_ = 0;    // and of these, a negative one.
  bool states_clocks_ = false;    // The own level of a transaction is one with real time.
  bool states_sessions_ = false;  // The own level of a transaction is one with session order.
};

// An error if `history` has no transactions: there is nothing to check. It says what the source was
// read as.
[[nodiscard]] Status refuse_empty(const History& history);

}  // namespace ouro
