// Random small histories of rows and predicate reads, with version orders and version sets, or with
// timestamps that imply them.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro::oracle {

// The same seed gives the same history. Every third one has timestamps instead of version orders.
[[nodiscard]] History random_rows(std::uint64_t seed);

}  // namespace ouro::oracle
