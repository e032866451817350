// Two more oracles, for histories of some dozens of transactions: the question is encoded for Z3,
// which shares nothing with our solver. These encodings are the baselines of the Viper paper.
#pragma once

#include <string>

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::oracle {

enum class Z3Encoding {
  // Begins and commits are numbers; a transaction sees what committed before it began (Viper's
  // GSI+Z3). All SI and SER levels.
  Snapshots,
  // Version orders are unknown, and Adya's graph over transactions has no forbidden cycle (Viper's
  // ASI+Z3). Levels without real time between snapshots: si, session-si, ser, session-ser,
  // strict-ser.
  Graph,
};

[[nodiscard]] bool can_encode(Z3Encoding encoding, Level level);

// Whether `level` allows `history`, a history of registers. Throws as observe() does.
// REQUIRES: can_encode(encoding, level).
[[nodiscard]] bool z3_allows(const History& history, Level level, Z3Encoding encoding);

}  // namespace ouro::oracle
