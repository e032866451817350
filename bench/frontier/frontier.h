// Histories at the frontier of what a search can do: random stale reads.
//
// Transactions run one after the other, each in a session of its own, and each reads and blindly
// writes a few keys drawn uniformly. A read returns the newest version of its key; a stale one,
// which each is with a certain chance, one of the `depth` newest, drawn uniformly, the initial one
// included. No session order and no real time helps. As stale reads become more frequent, they
// contradict each other more often; where about half of the seeds are violations a verdict is
// hardest to reach: neither a short cycle nor an obvious order exists.
#pragma once

#include <cstdint>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::bench {

struct FrontierOptions {
  std::uint32_t txns = 1000;
  std::uint32_t keys = 1000;
  std::uint32_t reads = 1;   // Of each transaction, before its writes,
  std::uint32_t writes = 2;  // all of different keys.
  std::uint32_t depth = 8;
  std::uint32_t stale_permille = 1000;  // Of reads.
  std::uint64_t seed = 1;
};

// The same options give the same history, on every machine.
// REQUIRES: reads + writes <= keys, depth > 0.
[[nodiscard]] History frontier(const FrontierOptions& options);

// Options close to where `level` starts to be violated, found by trial with 1000 transactions:
// with 2 keys for each transaction 4 of 8 seeds were serializable. Snapshot isolation forgives
// more: with 0.4 keys for each, all of 5 seeds held; with 0.3, five took over 10 s together.
[[nodiscard]] FrontierOptions near_threshold(Level level, std::uint32_t txns, std::uint64_t seed);

}  // namespace ouro::bench
