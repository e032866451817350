// Pieces of SQL that the drivers of SQL databases share. The values are numbers, so nothing needs
// quoting.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"

namespace ouro::db {

// " WHERE c0 BETWEEN 1 AND 5 AND …"; empty for all rows.
[[nodiscard]] std::string where_text(const Where& where);
// "c0 = 1, c2 = 7"
[[nodiscard]] std::string set_text(std::span<const Assignment> assignments);
// The numbers of a list, which the table holds as the text "1,2,3".
[[nodiscard]] std::vector<Number> parse_list(std::string_view text);

// How SQL writes a level: "REPEATABLE READ" for "rr" or "repeatable-read". Empty if `name` is none
// of ru, rc, rr, ser and their long forms.
[[nodiscard]] std::string_view isolation_text(std::string_view name);

}  // namespace ouro::db
