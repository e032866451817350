// Collects what the timestamps show to be wrong: counts all of it, and keeps the first examples.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ouro/check.h"

namespace ouro {

struct Violation {
  AnomalyKind kind = AnomalyKind::SnapshotMismatch;
  std::uint32_t at = 0;  // Position on the timeline; the first ones become examples.
  TxnId txn;
  TxnId other;    // The other transaction; invalid: none, or the initial one.
  OpId op;        // Invalid if it is about whole transactions, not operations.
  OpId other_op;  // What `op` contradicts; invalid if there is none.
  // What `op` should have returned, as JSON; empty if it is no read.
  std::string expected;
};

// One per thread; merged at the end.
class Violations {
 public:
  explicit Violations(std::size_t examples) : examples_(examples) {}
  // An empty one that wants as many examples, for another thread.
  [[nodiscard]] Violations empty_copy() const { return Violations(examples_); }

  // Counts `occurrences` of `kind`. Returns whether an example is still wanted; then keep() is to
  // follow.
  // REQUIRES: the caller goes along the timeline.
  bool add(AnomalyKind kind, std::uint64_t occurrences = 1) {
    const auto k = static_cast<std::size_t>(kind);
    counts_[k] += occurrences;
    return kept_[k] < examples_;
  }
  void keep(Violation violation) {
    ++kept_[static_cast<std::size_t>(violation.kind)];
    examples_list_.push_back(std::move(violation));
  }

  void merge(Violations&& other) {
    for (std::size_t k = 0; k < kAnomalyKindCount; ++k) counts_[k] += other.counts_[k];
    std::move(other.examples_list_.begin(), other.examples_list_.end(),
              std::back_inserter(examples_list_));
  }

  [[nodiscard]] const std::array<std::uint64_t, kAnomalyKindCount>& counts() const {
    return counts_;
  }
  [[nodiscard]] bool none() const {
    return std::all_of(counts_.begin(), counts_.end(), [](std::uint64_t n) { return n == 0; });
  }
  // The examples, kind by kind and the first on the timeline first; at most as many of each as are
  // wanted.
  [[nodiscard]] std::vector<Violation> first_examples() && {
    const auto place = [](const Violation& v) {
      return std::tie(v.kind, v.at, v.op, v.txn, v.other_op);
    };
    std::sort(examples_list_.begin(), examples_list_.end(),
              [&](const Violation& a, const Violation& b) { return place(a) < place(b); });
    std::vector<Violation> out;
    std::array<std::size_t, kAnomalyKindCount> taken{};
    for (Violation& violation : examples_list_) {
      if (taken[static_cast<std::size_t>(violation.kind)]++ < examples_) {
        out.push_back(std::move(violation));
      }
    }
    return out;
  }

 private:
  std::size_t examples_;
  std::array<std::uint64_t, kAnomalyKindCount> counts_{};
  std::array<std::size_t, kAnomalyKindCount> kept_{};
  std::vector<Violation> examples_list_;
};

}  // namespace ouro
