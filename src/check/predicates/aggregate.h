// Aggregates over rows, as SQL has them.
#pragma once

#include <string>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// The result of the aggregate `read` over `rows`, as JSON text, so that results of any size can be
// compared. Nulls are left out. The sum, minimum or maximum of no values is null, and so is a sum
// of values that are not all integers. A sum that takes more than 64 bits is a string of its
// digits.
[[nodiscard]] std::string aggregate(const History& history, const PredicateRead& read,
                                    const std::vector<KeyVersion>& rows);

// Integers of any size that a history has, and sums of them.
__extension__ using WideSum = __int128;  // Holds the sum of 2³² numbers of 64 bits, and more.
[[nodiscard]] bool is_integer_value(Value value);
// REQUIRES: is_integer_value(value).
[[nodiscard]] WideSum integer_of(const History& history, Value value);
// As aggregate() gives it.
[[nodiscard]] std::string sum_text(WideSum sum);

}  // namespace ouro
