// Decides small histories whose transactions have levels of their own, straight from the definition
// in docs/levels.md, "Mixed levels": tries every commit order, and every rule in it.
#pragma once

#include <cstdint>

#include "ouro/history.h"

namespace ouro::oracle {

// Throws as observe() does. About seven transactions are the practical limit.
[[nodiscard]] bool mixture_allowed(const History& history, std::int64_t clock_drift = 0);

}  // namespace ouro::oracle
