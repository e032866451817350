// For tests: what a small generated history did, and the conditions of the levels, written down as
// in the definitions and with no thought of speed.
//
// The history must carry version orders and timestamps: the store tells its true order, and these
// conditions are judged by it.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::workload {

inline constexpr std::size_t kMostTxns = 256;

// A relation over transactions: row i holds those that i relates to.
using Relation = std::vector<std::bitset<kMostTxns>>;

[[nodiscard]] Relation join(const Relation& a, const Relation& b);     // Union.
[[nodiscard]] Relation compose(const Relation& a, const Relation& b);  // a ; b
[[nodiscard]] Relation closure(Relation relation);                     // Transitive.
[[nodiscard]] bool irreflexive(const Relation& relation);
[[nodiscard]] bool acyclic(const Relation& relation);

inline constexpr int kInitialWriter = -1;

// A read from another transaction, in the order of the reader's operations.
struct ExternalRead {
  int reader = 0;
  KeyId key;
  int writer = kInitialWriter;
  Value value;
};

struct Facts {
  explicit Facts(const History& history);

  std::vector<TxnId> txns;        // Those that count as committed.
  std::vector<Timestamp> commit;  // The true commit order.
  std::vector<std::vector<KeyId>> written;
  std::vector<ExternalRead> reads;
  Relation so, wr, ww, rw, rt;
  // Everything wrong with single reads, by name; "non-repeatable" is the only one that rc allows.
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
