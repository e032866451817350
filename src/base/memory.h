// How much memory the process uses.
#pragma once

#include <cstdint>

namespace ouro {

// The resident set of the process in bytes; zero if /proc does not say. Costs a few microseconds.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace ouro
