// Cases that are the same but for names: it is enough to tell one of them.
#pragma once

#include <vector>

#include "ouro/explain.h"

namespace ouro {

// Sets Case::mirrors of each case that has the same cycle as an earlier one, if some transactions
// and keys are called by the names of others; not more than one can keep in mind.
void find_mirrors(std::vector<Case>& cases, const History& history);

}  // namespace ouro
