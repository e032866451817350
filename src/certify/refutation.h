// Checks that a refutation proves that no order of the writes is left (Refutation in ouro/check.h).
#pragma once

#include <string>

#include "certify/cycles.h"

namespace ouro::recheck {

// What is wrong with `refutation`, or "".
[[nodiscard]] std::string complaint(const Refutation& refutation, const Cycles& cycles);

}  // namespace ouro::recheck
