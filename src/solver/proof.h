// Why there is no solution: a list of lemmas, each following from the ones before it, the last one
// without literals, which is a contradiction. The solver adds them as it finds them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/dynamic_order.h"

namespace ouro {

// Says that the first side of a choice is taken or, if it is the opposite, the second side.
struct Literal {
  std::uint32_t code = 0xffffffff;  // 2 · choice + (1 if opposite). The default is no literal.

  static constexpr Literal of(std::uint32_t choice, bool opposite) {
    return {choice * 2 + (opposite ? 1u : 0u)};
  }
  [[nodiscard]] constexpr std::uint32_t choice() const { return code / 2; }
  [[nodiscard]] constexpr bool opposite() const { return (code & 1) != 0; }
  constexpr Literal operator!() const { return {code ^ 1}; }
  constexpr auto operator<=>(const Literal&) const = default;
};

// What a search came to. Stopped: the budget was exhausted. Paused: it may go on.
enum class Solution : std::uint8_t { Found, None, Stopped, Paused };

using LemmaId = std::uint32_t;
inline constexpr LemmaId kNoLemma = 0xffffffff;

// Says that at least one of its literals is true: a clause. There are two reasons. Either, if all
// literals were false, arcs of the sides that are then taken and known arcs would close `cycle`; or
// it follows from earlier lemmas, `premises`, by unit propagation in their order.
struct Lemma {
  std::vector<Literal> literals;
  std::vector<DynamicOrder::Step> cycle;  // A label is the code of the literal that has the arc.
  std::vector<LemmaId> premises;

  // Adds what contradicts the labels of `steps`, each literal once: not all of them can be chosen.
  void add_literals_against(std::span<const DynamicOrder::Step> steps);
};

// `lemmas` without those that the last one needs neither directly nor indirectly; premises are
// renumbered. Cost: linear.
[[nodiscard]] std::vector<Lemma> trimmed(std::span<const Lemma> lemmas);

// What is wrong with a proof, or "": a cycle that is not closed or does not fit its literals, a
// lemma that does not follow from its premises, no empty lemma at the end. A lemma with neither a
// cycle nor premises is believed. Cost: linear.
[[nodiscard]] std::string complaint(std::span<const Lemma> lemmas);

}  // namespace ouro
