// In which rows a scan or select differs from what it should have returned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ouro/history.h"

namespace ouro {

// A row as text: its key and value as JSON, `["k1",{"price":4}]`.
[[nodiscard]] std::string row_text(const History& history, const KeyVersion& row);

struct RowDifference {
  std::vector<std::string> missed;  // Rows that should have come back, and did not, as row_text().
  std::vector<KeyVersion> surplus;  // Rows that came back, and should not have.
};

// `expected`: what the read should have returned (Anomaly::expected). REQUIRES: it is a scan or a
// select.
[[nodiscard]] RowDifference row_difference(const History& history, OpId read,
                                           std::string_view expected);

// The last write among `ops` that makes the row; invalid if there is none.
[[nodiscard]] OpId write_of_row(const History& history, const std::vector<OpId>& ops,
                                std::string_view row);

}  // namespace ouro
