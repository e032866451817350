// Values and strings as JSON text.
#pragma once

#include <string>
#include <string_view>

#include "ouro/history.h"

namespace ouro {

// Appends `string` in quotes, escaped.
void append_json_string(std::string& out, std::string_view string);

// Appends `value` of `history`. Unobserved prints as null.
void append_json(std::string& out, const History& history, Value value);

// A Decimal or Float with these digits as EDN writes it: 1.5M, 1.5, ##NaN.
[[nodiscard]] std::string edn_number(ValueKind kind, std::string_view digits);

}  // namespace ouro
