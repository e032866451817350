// Whether bytes are UTF-8, by Unicode's table of well-formed byte sequences.
#pragma once

#include <cstddef>
#include <string_view>

namespace ouro {

// The number of bytes of the character at the start of `text`; 0 if no character starts there.
// REQUIRES: `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The length of the longest beginning of `text` that is UTF-8, in bytes. Cost: linear; ASCII is
// read eight bytes at a time.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text);

[[nodiscard]] inline bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

}  // namespace ouro
