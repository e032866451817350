// For tests: the relations of a small generated history, and the conditions of the levels, written
// down as in the definitions and with no thought of speed.
//
// REQUIRES: the history has complete version orders, timestamps and clocks. The conditions are
// judged by the true order that these tell.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::workload {

// The most nodes of a relation: twice as many as transactions, for their begins and commits.
inline constexpr std::size_t kMostTxns = 256;

// A relation over nodes: bit j of row i says whether i relates to j.
using Relation = std::vector<std::bitset<kMostTxns>>;

[[nodiscard]] Relation join(const Relation& a, const Relation& b);     // The union of both.
[[nodiscard]] Relation compose(const Relation& a, const Relation& b);  // A step of a, then of b.
[[nodiscard]] Relation closure(Relation relation);                     // One or more steps.
[[nodiscard]] bool irreflexive(const Relation& relation);
[[nodiscard]] bool acyclic(const Relation& relation);

inline constexpr int kInitialWriter = -1;

// A read of what another transaction wrote, or of the initial value.
struct ExternalRead {
  int reader = 0;
  KeyId key;
  int writer = kInitialWriter;
  Value value;
};

// What a history did. Transactions are numbered by their index in `txns`.
struct Facts {
  explicit Facts(const History& history);

  std::vector<TxnId> txns;                  // Those that count as committed.
  std::vector<Timestamp> commit;            // By transaction: when it committed.
  std::vector<std::vector<KeyId>> written;  // By transaction: the keys that it wrote.
  std::vector<ExternalRead> reads;          // By reader, in the order of its operations.
  Relation so, wr, ww, rw, rt;              // As in docs/levels.md.
  // What is wrong with single reads, by name. rc allows "non-repeatable" and nothing else.
  std::vector<std::string> wrong;

  [[nodiscard]] bool writes(int txn, KeyId key) const;
};

// Whether `level` holds under the true commit and version order.
[[nodiscard]] bool holds(const Facts& facts, Level level);
// Whether no commit order at all satisfies `level`. REQUIRES: rc, ra or cc.
[[nodiscard]] bool impossible(const Facts& facts, Level level);
// Whether no commit order that agrees with the true version order satisfies prefix consistency.
[[nodiscard]] bool prefix_impossible(const Facts& facts);

}  // namespace ouro::workload
