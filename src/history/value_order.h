// The order of values, and predicates over them.
#pragma once

#include "ouro/history.h"

namespace ouro {

// Less than, equal to or greater than zero: integers by size, before strings by bytes; null first.
[[nodiscard]] int compare_values(const History& history, Value a, Value b);

// Whether `predicate` holds for the row of `key`. REQUIRES: predicates nest at most as deep as
// readers allow.
[[nodiscard]] Truth evaluate(const History& history, PredicateId predicate, KeyId key, Value row);

}  // namespace ouro
