// How stores of bytes hold keys, numbers and rows, and what SQL would do for those without it.
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

// Eight bytes whose order is the order of keys.
[[nodiscard]] std::string encode_key(Key key);
[[nodiscard]] Key decode_key(std::string_view bytes);

// Eight bytes. Lists are numbers back to back.
[[nodiscard]] std::string encode_number(Number number);
[[nodiscard]] Number decode_number(std::string_view bytes);
void decode_numbers(std::string_view bytes, std::vector<Number>& numbers);

[[nodiscard]] std::string encode_row(const Row& row);
[[nodiscard]] Row decode_row(std::string_view bytes);

[[nodiscard]] bool matches(const Where& where, const Row& row);
// Count of no rows is 0, anything else of them is nothing.
[[nodiscard]] std::optional<Number> aggregate(AggregateKind kind, std::size_t column,
                                              std::span<const KeyRow> rows);
[[nodiscard]] Row assigned(Row row, std::span<const Assignment> assignments);

}  // namespace ouro::db
