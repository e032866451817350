// The oracle: decides every level for small histories by trying everything, straight from the
// definitions in docs/levels.md. Too simple to be wrong; the engines are tested against it.
//
// For rc, ra, cc and pc it tries all commit orders, for the others all version orders. So about
// eight transactions and four writers of a key are the practical limit.
#pragma once

#include <bitset>
#include <cstdint>
#include <set>
#include <span>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::oracle {

struct OracleOptions {
  std::int64_t clock_drift = 0;
  // With Versions only orders that agree with the history's version orders are tried.
  Evidence evidence = Evidence::Observed;
};

class LevelSet {
 public:
  [[nodiscard]] bool has(Level level) const { return bits_[static_cast<std::size_t>(level)]; }
  void add(Level level) { bits_.set(static_cast<std::size_t>(level)); }
  [[nodiscard]] bool operator==(const LevelSet&) const = default;

 private:
  std::bitset<kLevelCount> bits_;
};

// The levels that allow `history`. Throws as observe() does, and std::logic_error if two
// definitions of one level disagree.
[[nodiscard]] LevelSet allowed_levels(const History& history, const OracleOptions& options = {});
[[nodiscard]] bool allowed(const History& history, Level level, const OracleOptions& options = {});

// The anomalies that show in single operations (or pairs of reads): AnomalyKind up to and
// including NonRepeatableRead.
[[nodiscard]] std::set<AnomalyKind> plain_anomalies(const History& history);

// Whether `order` proves that `level` allows `history`: it has every transaction that counts
// once and no other; as a commit order (rc, ra, cc, pc) it satisfies the axiom; for the other
// levels the version orders it implies satisfy the condition, and it agrees with the edges
// between commits (ser, SI) or between transactions that see each other (psi).
[[nodiscard]] bool order_proves(const History& history, Level level, std::span<const TxnId> order,
                                const OracleOptions& options = {});

// Whether `first` completed before `second` was invoked, by more than the drift.
[[nodiscard]] bool precedes_in_time(const History& history, TxnId first, TxnId second,
                                    std::int64_t drift);
// Whether `first` completed, or its begin was answered, before `second` asked for its commit. What
// was not recorded lies between `invoked` and `completed`.
[[nodiscard]] bool commits_first_in_time(const History& history, TxnId first, TxnId second,
                                         std::int64_t drift);
[[nodiscard]] bool begins_first_in_time(const History& history, TxnId first, TxnId second,
                                        std::int64_t drift);

}  // namespace ouro::oracle
