// Says what is wrong with a piece of JSON, in words.
//
// simdjson tells that a document is broken, not where or how. On that path we have all the time in
// the world, so this little scanner looks again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ouro {

struct JsonFault {
  std::size_t offset = 0;
  std::string what;  // "expected ',' or '}', found ':'"
};

// The first fault of `text` as one JSON value, or nothing if it is one.
[[nodiscard]] std::optional<JsonFault> diagnose_json(std::string_view text);

}  // namespace ouro
