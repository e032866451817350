// Aggregates over rows, as SQL has them.
#pragma once

#include <string>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// What the aggregate `read` gives over `rows`, as JSON: text, so that it can be compared with a
// result of any size. Nulls do not count, and the sum, minimum or maximum of no values is null; so
// is a sum of what are not all integers. One that takes more than 64 bits is a string of its
// digits.
[[nodiscard]] std::string aggregate(const History& history, const PredicateRead& read,
                                    const std::vector<KeyVersion>& rows);

}  // namespace ouro
