// Counts what is in a history. Nothing is judged.
//
// Example (built and run as tests/example_lint.cc):
//
//   const ouro::Stats stats = ouro::count(history);
//   std::cout << stats.txns << " transactions in " << stats.sessions << " sessions\n";
//
// Thread safety: calls share no state.
#pragma once

#include <array>
#include <cstdint>

#include "ouro/history.h"

namespace ouro {

[[nodiscard]] std::string_view name(OpKind kind);       // "read", "write" …
[[nodiscard]] std::string_view name(TxnStatus status);  // "committed" …

struct Spread {
  std::uint64_t min = 0;
  std::uint64_t median = 0;  // Of an even number of values the lower of the two in the middle.
  std::uint64_t max = 0;
};

// The key with the most reads, or writes, by key. Rows of predicate reads do not count.
struct Busiest {
  KeyId key;  // The first one if several tie. Invalid if there are no such operations.
  std::uint64_t count = 0;
};

struct Stats {
  std::uint64_t sessions = 0;
  std::uint64_t txns = 0;
  std::array<std::uint64_t, 3> txns_by_status{};  // Indexed by TxnStatus.
  std::uint64_t empty_txns = 0;
  std::uint64_t ops = 0;
  std::array<std::uint64_t, kOpKindCount> ops_by_kind{};  // Indexed by OpKind.
  std::uint64_t keys = 0;
  std::uint64_t list_keys = 0;  // Appended to, or read as a list.
  Busiest most_read;
  Busiest most_written;
  Spread txns_per_session;
  Spread ops_per_txn;
  std::uint64_t clocked = 0;         // Transactions with both client clocks.
  std::uint64_t timestamped = 0;     // Transactions with both database timestamps.
  std::uint64_t named = 0;           // Transactions with a name.
  std::uint64_t levelled = 0;        // Transactions that state their own level.
  std::uint64_t version_orders = 0;  // Complete ones and fragments.
  std::uint64_t complete_version_orders = 0;
  std::uint64_t version_sets = 0;  // Predicate reads that come with one.
  std::uint64_t memory_bytes = 0;  // What the arrays of the history take.
};

// Counts what is in `history`. Cost: linear time; some counters for each key.
[[nodiscard]] Stats count(const History& history);

}  // namespace ouro
