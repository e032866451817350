// The order of values and the truth of predicates, from docs/predicates.md alone. The engines have
// code of their own for both, which must not be used here: a mistake in it would go unnoticed.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "ouro/history.h"

namespace ouro::recheck {

// What a value is compared by. Predicates compare only values of the same family, other than None.
// All values have an order: nothing, then numbers by size, then texts by bytes, then the rest.
struct Scalar {
  enum class Family : unsigned char { None, Number, Text, Other };
  Family family = Family::None;
  // A number is high · 2^64 + low, where high is -1 or 0. So each number that histories have, from
  // -2^63 to 2^64 - 1, is one pair, and pairs order as numbers do.
  std::int64_t high = 0;
  std::uint64_t low = 0;
  std::string_view text;
  constexpr auto operator<=>(const Scalar&) const = default;
};
[[nodiscard]] Scalar scalar_of(const History& history, Value value);

// Whether `a` is before `b` in the order of all values.
[[nodiscard]] bool less(const History& history, Value a, Value b);

// Whether a scan asks for a key.
[[nodiscard]] bool in_range(const History& history, const PredicateRead& scan, KeyId key);

// Whether the predicate is true of the row of `key`; with `answer` false: whether it is false. If
// neither is the case, its truth is unknown.
// REQUIRES: predicates nest at most as deep as readers allow.
[[nodiscard]] bool is_settled(const History& history, PredicateId predicate, KeyId key, Value row,
                              bool answer = true);

}  // namespace ouro::recheck
