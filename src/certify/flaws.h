// What is wrong with a history in plain sight, and whether an anomaly of single operations is true.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <string>
#include <tuple>
#include <vector>

#include "certify/predicate_reads.h"
#include "certify/reading.h"

namespace ouro::recheck {

class Flaws {
 public:
  Flaws(const Reading& reading, const PredicateReads& predicates);

  // Whether predicate reads returned what the versions they saw give.
  [[nodiscard]] bool results_fit() const { return wrong_results_.empty(); }

  // What is wrong with an anomaly that is no cycle as one that `level` forbids, or "".
  [[nodiscard]] std::string complaint(const Anomaly& anomaly, Level level) const;
  // The first flaw that `level` forbids, named with its place; "" if there is none. Lists that
  // disagree are not looked for: no order that is checked later can explain them.
  [[nodiscard]] std::string first_forbidden(Level level) const;

 private:
  // Whether two reads that differ are so because one of them left the key out.
  [[nodiscard]] bool is_phantom(const Flaw& flaw) const;
  // Whether `level` forbids an anomaly of `read`.
  [[nodiscard]] bool forbids(Level level, AnomalyKind kind, OpId read, bool phantom) const;
  [[nodiscard]] bool disagree(OpId a, OpId b) const;
  [[nodiscard]] bool swapped(OpId read, OpId append) const;
  [[nodiscard]] bool mismatches(OpId op) const;
  [[nodiscard]] bool is_implied(OpId op) const;
  [[nodiscard]] bool is_possible(OpId op) const;
  // By key, what the transaction wrote last before one of its operations.
  using OwnWrites = absl::flat_hash_map<KeyId, OpId>;
  [[nodiscard]] OwnWrites own_writes(OpId op) const;
  // The own writes that a version set contradicts.
  [[nodiscard]] std::vector<OpId> contradicted(OpId read) const;
  [[nodiscard]] bool alive(const KeyVersion& version) const;
  [[nodiscard]] bool is_counted(OpId op) const;
  [[nodiscard]] bool is_fault(const Anomaly& anomaly) const;
  void find_misplaced();

  const Reading& reading_;
  const History& h_;
  // Each flaw: its kind, the read, and what that contradicts or took its value from.
  absl::flat_hash_set<std::tuple<AnomalyKind, OpId, OpId>> known_;
  // Those of them that are of two reads which both returned the key.
  absl::flat_hash_set<std::pair<OpId, OpId>> returned_twice_;
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones_;
  const PredicateReads& predicates_;
  std::vector<OpId> wrong_results_;  // Reads of predicates_, sorted.
  // The place of a write that contradicts a version order; "" if there is none.
  std::string first_misplaced_;
};

}  // namespace ouro::recheck
