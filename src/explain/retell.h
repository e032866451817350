// What engines say, in the form that stories have.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// The cases of a search: every cycle that excludes an order of some writes.
[[nodiscard]] std::vector<Case> cases_of(const Refutation& refutation);

// Those of what open reads may have returned, each with what is wrong then.
[[nodiscard]] std::vector<Case> cases_of(std::span<const SourceCase> sources);

// Whoever read the initial value of a key read what every writer of it overwrote. To say so is
// plainer than to say that one of those would have to precede the initial state. Changes the first
// case of a story of rc, ra or cc.
void avoid_initial(Story& story, const History& history);

}  // namespace ouro
