// Makes small histories: every one of a given size, or random ones.
#pragma once

#include <cstdint>
#include <functional>

#include "ouro/history.h"
#include "tests/this_build.h"

namespace ouro::oracle {

struct Shape {
  // All of these are the most; there is at least one of each.
  std::size_t txns = 3;
  std::size_t ops = 2;  // Of each transaction.
  std::size_t keys = 2;
  std::size_t sessions = 2;
  std::size_t stride = 1;  // Visit only every stride-th history.
  bool cas = false;        // With compare-and-sets, too, that succeeded and that failed.
  std::size_t values = 0;  // Writes repeat: they have one of so many values. Zero: they do not.
  // With scans of all keys, which return some rows. Then the first value is "absent", and writing
  // it deletes. REQUIRES: values repeat.
  bool scans = false;
};

// Calls `visit` with every register history of `shape` in which each write has a value of its
// own and each read returns the initial value or one that somebody, maybe the reader itself,
// wrote to the key; if values repeat, with every one in which writes and reads have any of them,
// the initial one included. Histories that differ only in the names of keys or sessions, or in the
// order in which sessions are listed, come once. Returns how many were visited.
std::size_t for_each_history(const Shape& shape, const std::function<void(const History&)>& visit);

// Probabilities are in [0, 1]. Without the faults below the history is that of a store that runs
// the transactions one at a time.
struct RandomShape {
  std::size_t min_txns = 2;
  std::size_t max_txns = 5;  // Below 64.
  std::size_t max_ops = 4;
  std::size_t keys = 3;
  std::size_t sessions = 3;
  std::size_t writers_per_key = 4;  // At most; the oracle tries all their orders.
  bool lists = false;
  double read_share = 0.55;
  double rmw = 0.3;      // A write follows a read of its key.
  double shuffle = 0.3;  // The store runs transactions in another order than that of sessions.
  double lag = 0.4;      // A transaction reads an older snapshot.
  double fork = 0.2;     // A transaction reads what a distant site has applied, in causal order.
  double creep = 0.1;    // Each read of a transaction is of a newer snapshot than the one before.
  double stray = 0.1;    // A read returns the value of any write of its key.
  double wrong = 0.01;   // A read returns something that no store should return.
  double aborted = 0.05;
  double unknown = 0.1;
  bool repeats = false;    // Of registers: there are only a few values, the initial one among them.
  double cas = 0;          // Of registers: reads that become part of a compare-and-set.
  double clocks = 0.5;     // The share of histories in which transactions have clocks.
  double clock_noise = 2;  // How far clocks are off, in transactions.
};

// The same seed gives the same history.
[[nodiscard]] History random_history(std::uint64_t seed, const RandomShape& shape);

// A mixture of shapes: quiet and noisy, registers and lists, few and many sessions.
[[nodiscard]] RandomShape mixed_shape(std::uint64_t seed);
// The same of small registers with few values. The oracle tries everything that each read may have
// returned, so there are few transactions.
[[nodiscard]] RandomShape repeating_shape(std::uint64_t seed);

}  // namespace ouro::oracle
