// Aggregates over rows, as SQL has them.
#pragma once

#include <string>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// What the aggregate `read` gives over `rows`, as JSON: text, so that it can be compared with a
// result of any size. Nulls do not count, and no values have no sum, minimum or maximum. A sum of
// what are no integers, or too large, is "no number".
[[nodiscard]] std::string aggregate(const History& history, const PredicateRead& read,
                                    const std::vector<KeyVersion>& rows);

}  // namespace ouro
