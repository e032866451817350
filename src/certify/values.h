// The order of values and the truth of predicates, from docs/predicates.md alone. The engines have
// code of their own for both, which must not be used here: a mistake in it would go unnoticed.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "ouro/history.h"

namespace ouro::recheck {

// What a value is compared by. Only those of one family other than None compare with each other;
// all of them have an order: nothing, then numbers by size, then texts by bytes, then the rest.
struct Scalar {
  enum class Family : unsigned char { None, Number, Text, Other };
  Family family = Family::None;
  // Of a number: -1 or 0, and what is to be added to that many times 2^64. So each of the numbers
  // that histories have, from -2^63 to 2^64 - 1, is one pair, and pairs order as numbers do.
  std::int64_t high = 0;
  std::uint64_t low = 0;
  std::string_view text;
  constexpr auto operator<=>(const Scalar&) const = default;
};
[[nodiscard]] Scalar scalar_of(const History& history, Value value);

// Whether `a` is before `b` in the order of all values.
[[nodiscard]] bool less(const History& history, Value a, Value b);

// Whether the predicate is true for the row of `key`; with `answer` false: whether it is false. Of
// a row for which neither is the case it is unknown.
// REQUIRES: predicates nest at most as deep as readers allow.
[[nodiscard]] bool is_settled(const History& history, PredicateId predicate, KeyId key, Value row,
                              bool answer = true);

}  // namespace ouro::recheck
