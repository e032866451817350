// Makes small histories with clients' clocks and quiet moments: transactions come in batches, and
// mostly nothing is under way between two batches.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro::oracle {

// Probabilities are in [0, 1]. Without the faults below the history is strictly serializable, or
// strong-si if `snapshots`.
struct BatchShape {
  std::size_t batches = 4;
  std::size_t batch = 4;  // At most so many transactions in one.
  std::size_t max_ops = 3;
  std::size_t keys = 3;
  std::size_t sessions = 3;
  bool snapshots = false;     // Transactions read what was there when they began.
  double stale = 0;           // A transaction reads an older state.
  double stray = 0;           // A read returns any value that was ever written.
  double aborted = 0;
  double unknown = 0;         // The outcome is not known; half of them took effect,
  double late = 0;            // and of these so many in a later batch.
  double ended = 0;           // It is known when a transaction of unknown outcome ended.
  double unclocked = 0;       // A transaction that committed does not say when it completed.
  double overlap = 0;         // A transaction goes on while the next batch runs.
  double repeats = 0;         // A write repeats a value, or deletes.
  double cas = 0;             // A read of a key is a compare-and-set.
};

// The same seed gives the same history.
[[nodiscard]] History random_batches(std::uint64_t seed, const BatchShape& shape);

}  // namespace ouro::oracle
