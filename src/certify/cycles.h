// Checks that the edges of a cycle close it, and that each follows from the history.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "certify/predicate_reads.h"
#include "certify/reading.h"
#include "certify/rules.h"
#include "certify/versions.h"
#include "ouro/check.h"

namespace ouro::recheck {

class Cycles {
 public:
  Cycles(const Reading& reading, const PredicateReads& predicates, Level level,
         std::int64_t clock_drift);

  // What is wrong with `cycle`, or "". Its edges may rest on `assumed` sides of `choices`.
  // REQUIRES: `choices` are sound, and no choice is in `assumed` twice.
  [[nodiscard]] std::string complaint(std::span<const Edge> cycle, std::span<const Choice> choices,
                                      std::span<const ChoiceSide> assumed) const;

  // What is wrong with a choice, or "": it must be about writers of its key, and an open read.
  [[nodiscard]] std::string complaint(const Choice& choice) const;
  // What is wrong with a step that says, without a cycle and premises, that the sides `assumed` of
  // `choices` contradict each other by what they say of an open read, or that a predicate read
  // cannot have returned what it did if its transaction sees what they say; or "".
  // REQUIRES: `choices` are sound, and no choice is in `assumed` twice.
  [[nodiscard]] std::string complaint(std::span<const Choice> choices,
                                      std::span<const ChoiceSide> assumed) const;

 private:
  // That version `first` precedes version `second`, if that was `made`: an edge may rest on it.
  struct Assumption {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    bool made = false;
  };
  enum class End : unsigned char { Begin, Commit };  // Of a transaction.
  // From which end of a transaction to which end of another an edge leads.
  struct Arc {
    End from = End::Commit;
    End to = End::Begin;
  };

  [[nodiscard]] std::string complaint_about_writer(const Choice& choice, TxnId txn) const;
  [[nodiscard]] bool rests_on(const Edge& edge, const Choice& choice, bool reversed) const;
  [[nodiscard]] bool leaves_no_source(std::span<const Choice> choices,
                                      std::span<const ChoiceSide> assumed, AccessId read) const;
  [[nodiscard]] bool sees_later_version(std::span<const Choice> choices,
                                        std::span<const ChoiceSide> assumed) const;
  [[nodiscard]] bool contradicts_result(std::span<const Choice> choices,
                                        std::span<const ChoiceSide> assumed) const;
  // The version of `key` by `writer`, which may be kInitialTxn.
  [[nodiscard]] std::uint32_t version_of(TxnId writer, KeyId key) const {
    return writer == kInitialTxn ? versions_.initial(key) : reading_.last_write(writer, key);
  }
  [[nodiscard]] bool connects(const Edge& edge, const Edge& next) const;
  [[nodiscard]] Arc arc(const Edge& edge) const;
  // The rules that a transaction is judged by.
  [[nodiscard]] Rules rules(TxnId txn) const { return rules_of(reading_.history(), level_, txn); }
  // What is wrong with the rw edges of a cycle at parallel SI, which allows cycles with several; or
  // "".
  [[nodiscard]] std::string complaint_about_missed(std::span<const Edge> cycle) const;
  [[nodiscard]] std::string complaint_about_overwrites(std::span<const Edge> cycle) const;
  [[nodiscard]] bool is_proven(const Edge& edge, const Assumption& assumption) const;
  [[nodiscard]] bool is_session(const Edge& edge) const;
  [[nodiscard]] bool follows_from_clocks(const Edge& edge) const;
  [[nodiscard]] bool is_write_read(const Edge& edge) const;
  [[nodiscard]] bool is_write_write(const Edge& edge, const Assumption& assumption) const;
  [[nodiscard]] bool is_read_write(const Edge& edge, const Assumption& assumption) const;
  // Whether `op` belongs to `txn`.
  [[nodiscard]] bool is_op_of(OpId op, TxnId txn) const;
  [[nodiscard]] bool is_missed(const Edge& edge) const;
  [[nodiscard]] bool is_forced(const Edge& edge) const;
  [[nodiscard]] bool saw(TxnId reader, const Edge& edge, AccessId read) const;
  [[nodiscard]] bool caused(TxnId from, TxnId reader) const;
  [[nodiscard]] bool before_in_session(TxnId from, TxnId to) const;
  // Whether version `early` is known, or by the assumption, to precede `late`.
  [[nodiscard]] bool ordered(std::uint32_t early, std::uint32_t late,
                             const Assumption& assumption) const;
  [[nodiscard]] bool takes_part(TxnId txn) const {
    return txn == kInitialTxn ||
           (txn.index() < reading_.history().txn_count() && reading_.counts(txn));
  }
  // The external read of `key` that `op` of `txn` made; kNoAccess if it made none.
  [[nodiscard]] AccessId read_at(OpId op, TxnId txn, KeyId key) const;
  // The version of `key` that `txn` installed, if `op` is a write of the key by `txn`; kNoAccess if
  // not. For the initial transaction, `op` must be invalid.
  [[nodiscard]] std::uint32_t version_at(OpId op, TxnId txn, KeyId key) const;

  const Reading& reading_;
  const Level level_;
  std::int64_t clock_drift_;
  Versions versions_;
  const PredicateReads& predicates_;
  std::vector<std::uint32_t> place_;  // By transaction: its number in its session.
};

}  // namespace ouro::recheck
