// Finds the word that a misspelt one was meant to be, for "did you mean …?"
#pragma once

#include <span>
#include <string_view>

namespace ouro {

// The candidate that takes the fewest edits of single letters to become `word`, where two that
// changed places count as one; the first if several tie. "" if it takes more edits than a third of
// its letters (but one edit is allowed).
[[nodiscard]] std::string_view closest(std::string_view word,
                                       std::span<const std::string_view> candidates);

}  // namespace ouro
