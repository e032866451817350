// What the plugin test_decoding tells of the log, line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ouro::tapping {

// A column of a row that changed.
struct LogCell {
  std::string column;
  std::string text;
  bool null = false;
  bool unchanged = false;  // A large value that was not touched, and is not told.
};

struct Decoded {
  enum class Kind : std::uint8_t {
    Begin,
    Commit,
    Insert,
    Update,
    Delete,
    Truncate,  // `schema` and `table` are those of the first table only.
    Message,
    Other,
  };
  Kind kind = Kind::Other;
  std::uint32_t txn = 0;  // Of Begin and Commit.
  std::string schema, table;
  std::vector<LogCell> before;  // The old key, of an update that changed it.
  std::vector<LogCell> cells;   // The new row; of a delete the old key.
  std::string message;          // Of a message: "PREFIX CONTENT".
};

// Nothing if the line is of no form that is known.
[[nodiscard]] std::optional<Decoded> parse_decoded(std::string_view line);

}  // namespace ouro::tapping
