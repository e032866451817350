// How much memory the process has resident.
#pragma once

#include <cstdint>

namespace ouro {

// In bytes; zero where the system does not say. Costs a few microseconds.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace ouro
