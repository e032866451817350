// The oracle for lists in which elements repeat: it gives every append an element of its own, tries
// all ways to say which append each element is that reads show, and asks the oracle for lists of
// unique elements (tests/oracle.h) about each.
#pragma once

#include "ouro/history.h"
#include "tests/oracle.h"

namespace ouro::oracle {

// The levels that allow `history`. REQUIRES: no predicate reads but scans without version sets, no
// undone parts; values are integers, and so are names of keys; version orders name transactions.
[[nodiscard]] LevelSet allowed_with_repeats(const History& history,
                                            const OracleOptions& options = {});

}  // namespace ouro::oracle
