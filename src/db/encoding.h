// For embedded stores that know only bytes: how they hold keys, numbers and rows, and the
// operations on rows (predicates, aggregates, assignments) that SQL databases do themselves.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"

namespace ouro::db {

inline constexpr Key kLeastKey = std::numeric_limits<Key>::min();
inline constexpr Key kGreatestKey = std::numeric_limits<Key>::max();

// Eight bytes; comparing them as unsigned bytes gives the order of the keys.
[[nodiscard]] std::string encode_key(Key key);
[[nodiscard]] Key decode_key(std::string_view bytes);

// Eight bytes in the order of this machine. A list is its numbers back to back.
[[nodiscard]] std::string encode_number(Number number);
[[nodiscard]] Number decode_number(std::string_view bytes);
// Appends the numbers of a list to `numbers`.
void decode_numbers(std::string_view bytes, std::vector<Number>& numbers);

[[nodiscard]] std::string encode_row(const Row& row);
[[nodiscard]] Row decode_row(std::string_view bytes);

// Whether `row` meets all conditions of `where`.
[[nodiscard]] bool matches(const Where& where, const Row& row);
// If there are no rows, Count gives 0 and the others give nothing.
[[nodiscard]] std::optional<Number> aggregate(AggregateKind kind, std::size_t column,
                                              std::span<const KeyRow> rows);
// `row` after `assignments`.
[[nodiscard]] Row assigned(Row row, std::span<const Assignment> assignments);

}  // namespace ouro::db
