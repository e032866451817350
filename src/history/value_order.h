// The order of values and the truth of predicates, for all engines. certify/ has its own.
#pragma once

#include "ouro/history.h"

namespace ouro {

// Less than zero if a < b, zero if they are equal, else greater than zero. Null and unobserved come
// first, then integers by size, then texts by bytes, then rows and lists in some order.
[[nodiscard]] int compare_values(const History& history, Value a, Value b);

// Whether `predicate` holds for `row`, the row of `key`. It recurses, so REQUIRES: the predicate is
// nested no deeper than the readers of histories allow. Cost: linear in the predicate.
[[nodiscard]] Truth evaluate(const History& history, PredicateId predicate, KeyId key, Value row);

}  // namespace ouro
