// Why no order of the writes is possible, told case by case.
#pragma once

#include <string>

#include "ouro/check.h"

namespace ouro {

// Appends the transactions involved, then each case with its contradiction; of a long proof the
// first cases only.
void append_refutation(std::string& out, const History& history, const Refutation& refutation);

}  // namespace ouro
