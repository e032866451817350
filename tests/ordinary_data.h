// Random small histories of what applications store: values that repeat, plain deletes, scans and
// selects, counters, sets to which an element is added twice, lists with an element twice.
#pragma once

#include <cstdint>

#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro::oracle {

// The same seed gives the same history. Some reads return what the state was earlier.
[[nodiscard]] History ordinary_data(std::uint64_t seed);

// A part of a history: some of the transactions, and of those some of the operations.
[[nodiscard]] History random_part(const History& history, Evidence evidence, std::uint64_t seed);

}  // namespace ouro::oracle
