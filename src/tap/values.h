// Values of columns and names of keys, as they are written to the history.
//
// Only types whose text does not depend on settings of the session are known: integers, numeric,
// boolean, texts, uuid, json, enumerations. The text comes from the server, once to a client and
// once from the log, and both must give the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ouro::tapping {

using Oid = std::uint32_t;

// What stands for the type of an enumeration.
inline constexpr Oid kEnumeration = 1;

[[nodiscard]] bool is_known_type(Oid type);
// What SQL calls NULL. A text "NULL" gets a backslash.
[[nodiscard]] std::string null_value();
// The JSON of a value from the text that the server gives; nothing if the text is not of the type.
[[nodiscard]] std::optional<std::string> value_of_text(Oid type, std::string_view text);
// The text of a value in binary form; nothing if the type has no form that is known.
[[nodiscard]] std::optional<std::string> text_of_binary(Oid type, std::string_view bytes);
// The text of a key's part in its usual form: "07" is "7" for an integer.
[[nodiscard]] std::optional<std::string> key_part(Oid type, std::string_view text);
// "accounts/7", "shop.orders/7,2": the row of a table with a primary key.
[[nodiscard]] std::string row_name(std::string_view schema, std::string_view table,
                                   std::span<const std::string> key);
// "accounts/7.balance"
[[nodiscard]] std::string cell_name(std::string_view row, std::string_view column);

// "accounts.balance": what predicates call the column.
[[nodiscard]] std::string column_label(std::string_view schema, std::string_view table,
                                       std::string_view column);
// The value of a cell that predicates ask for: {"accounts.balance":5}, in which NULL is null; or
// "null", if there is no such row. `value` is what value_of_text() or null_value() gave.
[[nodiscard]] std::string labelled(const std::string& label, const std::string& value);
// Whether the binary form of a parameter of one type can be read as a value of the other. Zero: it
// is not known, since the server infers it from what it is compared with.
[[nodiscard]] bool reads_alike(Oid parameter, Oid column);
// The JSON of what a predicate compares values of a type with; nothing if that is none of them.
[[nodiscard]] std::optional<std::string> operand_of_text(Oid type, std::string_view text);
// Whether predicates order values of the type as the database does; whether they have patterns.
[[nodiscard]] bool is_ordered(Oid type);
[[nodiscard]] bool has_patterns(Oid type);

void put_json_text(std::string& out, std::string_view text);

}  // namespace ouro::tapping
