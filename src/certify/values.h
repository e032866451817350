// The order of values and the truth of predicates, from docs/predicates.md alone. The engines have
// code of their own for both, which must not be used here: a mistake in it would go unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "certify/numbers.h"
#include "ouro/history.h"

namespace ouro::recheck {

// What a value is compared by. Predicates compare only values of the same family, other than None.
// All values have an order: nothing, then false and true, then numbers by size, then texts by
// bytes, then the rest.
struct Scalar {
  enum class Family : unsigned char { None, Boolean, Number, Text, Other };
  Family family = Family::None;
  // An integer of 64 bits is high · 2^64 + low, where high is -1 or 0. So each from -2^63 to
  // 2^64 - 1 is one pair, and pairs order as numbers do. `low` is also what booleans and others are
  // ordered by.
  std::int64_t high = 0;
  std::uint64_t low = 0;
  std::string_view text;
  // Of any other number: how large it is, unless it is infinite or not a number.
  bool other_number = false;
  int beyond = 0;  // -1: less than all numbers; 1: greater; 2: not a number, and greater than that.
  Exact size;
  bool floating = false;  // It is a floating-point number: this one.
  double number = 0;
};
[[nodiscard]] Scalar scalar_of(const History& history, Value value);
// Below zero, zero or above: the order of all values.
[[nodiscard]] int compared(const Scalar& a, const Scalar& b);

// Whether `a` is before `b` in the order of all values. A floating-point number and an exact one of
// the same size are not before each other.
[[nodiscard]] bool less(const History& history, Value a, Value b);

// The same, but of numbers of the same size the exact one is before the other.
[[nodiscard]] bool before(const History& history, Value a, Value b);

// Whether two lists hold the same elements.
inline bool same_values(std::span<const Value> a, std::span<const Value> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Whether a scan asks for a key.
[[nodiscard]] bool in_range(const History& history, const PredicateRead& scan, KeyId key);

// Whether the predicate is true of the row of `key`; with `answer` false: whether it is false. If
// neither is the case, its truth is unknown.
// REQUIRES: predicates nest at most as deep as readers allow.
[[nodiscard]] bool is_settled(const History& history, PredicateId predicate, KeyId key, Value row,
                              bool answer = true);

}  // namespace ouro::recheck
