// Why there is no solution: a list of lemmas, each following from the ones before it, the last one
// empty. Kept as the solver finds them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/dynamic_order.h"

namespace ouro {

// A choice, or its opposite.
struct Literal {
  std::uint32_t code = 0xffffffff;  // 2 · choice + (1 if opposite).

  static constexpr Literal of(std::uint32_t choice, bool opposite) {
    return {choice * 2 + (opposite ? 1u : 0u)};
  }
  [[nodiscard]] constexpr std::uint32_t choice() const { return code / 2; }
  [[nodiscard]] constexpr bool opposite() const { return (code & 1) != 0; }
  constexpr Literal operator!() const { return {code ^ 1}; }
  constexpr auto operator<=>(const Literal&) const = default;
};

using LemmaId = std::uint32_t;
inline constexpr LemmaId kNoLemma = 0xffffffff;

// Says that not all of the opposites of its literals can be chosen. Either its cycle shows it: the
// arcs of those choices and arcs that are known close it; or it follows from `premises` by unit
// propagation in that order.
struct Lemma {
  std::vector<Literal> literals;
  std::vector<DynamicOrder::Step> cycle;  // Labels are literal codes.
  std::vector<LemmaId> premises;
};

// A list of lemmas that ends with the empty one, without those it does not need.
[[nodiscard]] std::vector<Lemma> trimmed(std::span<const Lemma> lemmas);

}  // namespace ouro
