// One more oracle, for histories of some dozens of transactions with repeated values, deletes and
// predicate reads: "there is an order of begins and commits in which every operation returns what
// is there" is encoded for Z3 as it stands, with what each transaction sees of each key unknown.
#pragma once

#include "ouro/history.h"
#include "ouro/level.h"

namespace ouro::oracle {

// Whether `level`, one of kSnapshotAndSerialLevels, allows `history`.
// REQUIRES: it has reads, writes, deletes, scans without version sets, selects and aggregates of
// integers, no lists and no clocks.
[[nodiscard]] bool z3_states_allow(const History& history, Level level);

}  // namespace ouro::oracle
