// What predicate reads of a part of a history say, compared with what they say in the whole.
#pragma once

#include "base/budget.h"
#include "ouro/explain.h"

namespace ouro {

// By version orders, whether a select or aggregate depends on a write is a question of the versions
// beside it: does it change what matches? A part lacks some of them, so it may show dependencies
// that the whole does not have. Whether each one in the story is one of `history`, too.
[[nodiscard]] bool predicates_agree(const History& history, const Story& story,
                                    const Budget& budget);

}  // namespace ouro
