// "Did you mean …?"
#pragma once

#include <span>
#include <string_view>

namespace ouro {

// The candidate that takes the fewest single-letter edits to become `word`, or "" if even that
// one takes more than a third of its letters.
[[nodiscard]] std::string_view closest(std::string_view word,
                                       std::span<const std::string_view> candidates);

}  // namespace ouro
