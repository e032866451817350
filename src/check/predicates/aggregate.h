// Aggregates over rows, as SQL has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// The result of the aggregate `read` over `rows`, as JSON text. Nulls are left out. The sum,
// average, minimum or maximum of no values is null, and so is a sum or average of values that are
// not all numbers. An average may be cut off, and a sum of floating-point numbers rounded.
[[nodiscard]] std::string aggregate(const History& history, const PredicateRead& read,
                                    const std::vector<KeyVersion>& rows);

// Whether a database may give `recorded`, a value as JSON text, as the result.
[[nodiscard]] bool aggregate_fits(const History& history, const PredicateRead& read,
                                  const std::vector<KeyVersion>& rows, std::string_view recorded);

}  // namespace ouro
