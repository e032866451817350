// Keywords of EDN.
#pragma once

#include <algorithm>
#include <string_view>

namespace ouro {

// Whether `text` is a keyword with its colon, as EDN writes it: ":x", but not ":two words".
[[nodiscard]] inline bool is_edn_keyword(std::string_view text) {
  if (text.size() < 2 || text[0] != ':') return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return letter(text[1]) && std::all_of(text.begin() + 2, text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace ouro
