// The order of values and the truth of predicates, for all engines. certify/ has its own.
#pragma once

#include <optional>

#include "history/number.h"
#include "ouro/history.h"

namespace ouro {

// Less than zero if a < b, zero if they are equal, else greater than zero. Null and unobserved come
// first, then false and true, then numbers by size, then texts by bytes, then rows and lists in
// some order. If a Float and an exact number have the same size, the exact one comes first.
[[nodiscard]] int compare_values(const History& history, Value a, Value b);

// Whether `predicate` holds for `row`, the row of `key`. It recurses, so REQUIRES: the predicate is
// nested no deeper than the readers of histories allow. Cost: linear in the predicate.
[[nodiscard]] Truth evaluate(const History& history, PredicateId predicate, KeyId key, Value row);

// The value of a term for one row: a value of the history, or a number that was calculated.
struct TermValue {
  Value value;                   // Null if it is a number that was calculated.
  std::optional<Number> number;  // If it is a number.
};
// REQUIRES: `term` is a term.
[[nodiscard]] TermValue value_of_term(const History& history, PredicateId term, KeyId key,
                                      Value row);

}  // namespace ouro
