// Turns proofs of the engines into cases of stories.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// The cases of a search: one for each cycle that excludes some order of writes.
[[nodiscard]] std::vector<Case> cases_of(const History& history, const Refutation& refutation);

// The cases of what open reads may have returned, each with what is wrong in that case.
[[nodiscard]] std::vector<Case> cases_of(const History& history,
                                         std::span<const SourceCase> sources);

// Rewrites the first case of a story of rc, ra or cc, if its cycle says that a writer of a key
// would have to precede the initial state. It is plainer to say that a transaction saw that writer,
// and nevertheless read the initial value, which every writer of the key overwrote.
void avoid_initial(Story& story, const History& history);

}  // namespace ouro
