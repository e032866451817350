// What tests of `ouro hermitage` compare: which anomalies occur, level by level.
#pragma once

#include <map>
#include <string>

#include "ouro/hermitage.h"

namespace ouro {

// By HermitageRow::options, the names of the tests that occur, with blanks between them.
using Table = std::map<std::string, std::string>;

// Plays the tests. Fails the test if that is not possible, if a cell is unclear, or if a cell
// contradicts what the steps say: in some scripts an anomaly occurs exactly if everybody read the
// initial state and committed.
Table occurring(const HermitageOptions& options);

}  // namespace ouro
