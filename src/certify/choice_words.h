// How the kinds of choices are called in certificates.
#pragma once

#include <array>
#include <string_view>

#include "ouro/check.h"

namespace ouro::recheck {

// By ChoiceKind. docs/certificates.md explains what follows each of them.
inline constexpr std::array<std::string_view, 4> kChoiceWords{"choice", "sees", "source", "later"};

// Whether a choice of this kind is about an open read, instead of two transactions.
constexpr bool is_about_read(ChoiceKind kind) {
  return kind == ChoiceKind::Source || kind == ChoiceKind::Later;
}

}  // namespace ouro::recheck
