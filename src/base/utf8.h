// What is UTF-8: Unicode's table of well-formed byte sequences.
#pragma once

#include <cstddef>
#include <string_view>

namespace ouro {

// The number of bytes of the character at the start of `text`, or 0 if there is none.
// REQUIRES: `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The number of bytes before the first one that belongs to no character: all, if `text` is UTF-8.
// ASCII is read eight bytes at a time.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text);

[[nodiscard]] inline bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

}  // namespace ouro
