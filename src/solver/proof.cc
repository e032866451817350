#include "solver/proof.h"

#include <algorithm>

namespace ouro {

void Lemma::add_literals_against(std::span<const DynamicOrder::Step> steps) {
  for (const DynamicOrder::Step& step : steps) {
    if (step.label == DynamicOrder::kNoLabel) continue;
    const Literal against = !Literal{step.label};
    if (std::find(literals.begin(), literals.end(), against) == literals.end()) {
      literals.push_back(against);
    }
  }
}

std::vector<Lemma> trimmed(std::span<const Lemma> lemmas) {
  std::vector<bool> needed(lemmas.size(), false);
  if (!lemmas.empty()) needed.back() = true;
  for (std::size_t i = lemmas.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const LemmaId premise : lemmas[i].premises) needed[premise] = true;
  }
  std::vector<LemmaId> renumbered(lemmas.size(), kNoLemma);
  std::vector<Lemma> kept;
  for (std::size_t i = 0; i < lemmas.size(); ++i) {
    if (!needed[i]) continue;
    renumbered[i] = static_cast<LemmaId>(kept.size());
    kept.push_back(lemmas[i]);
    for (LemmaId& premise : kept.back().premises) premise = renumbered[premise];
  }
  return kept;
}

}  // namespace ouro
