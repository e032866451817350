// Histories like others, but with few different values, and with deletes that leave nothing.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro {

struct Repeats {
  std::uint64_t distinct = 10;  // How many different values are written to a key.
  bool plain_deletes = true;    // Deletes leave no tombstone.
};

// The same history, with each value of a register replaced by one of a few, wherever it was written
// or read. If it satisfies a level, by observation or by timestamps, so does the result.
// REQUIRES: values are integers; registers, lists and scans without version sets; no initial
// values.
[[nodiscard]] History with_repeats(const History& history, const Repeats& repeats);

}  // namespace ouro
