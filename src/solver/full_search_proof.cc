// Of the full search: the lemmas that make a proof whole, and the proof.

#include <algorithm>

#include "base/internal_error.h"
#include "solver/full_search.h"

namespace ouro {

// The lemma that says that `literal`, which is true at level zero, is true in every solution. It
// follows from the reason of the literal and from such lemmas about the others in the reason, which
// are made first. Those were assigned earlier, so this ends.
LemmaId FullSearch::unit(Literal literal) {
  std::vector<Literal> stack{literal};
  std::vector<LemmaId> premises;
  while (!stack.empty()) {
    const Literal top = stack.back();
    if (unit_[top.choice()] != kNoLemma) {
      stack.pop_back();
      continue;
    }
    const Ref why = reason(top);
    premises.clear();
    bool ready = true;
    for (const std::uint32_t code : lemmas_.codes(why)) {
      if (code == top.code) continue;
      if (unit_[code / 2] == kNoLemma) {
        stack.push_back(!Literal{code});
        ready = false;
      } else {
        premises.push_back(unit_[code / 2]);
      }
    }
    if (!ready) continue;
    stack.pop_back();
    LemmaId made = lemmas_.id(why);
    if (!premises.empty()) {
      premises.push_back(made);
      made = lemmas_.id(
          lemmas_.add(LemmaStore::Kind::Premises, std::span<const Literal>(&top, 1), premises));
    }
    unit_[top.choice()] = made;
  }
  return unit_[literal.choice()];
}

// Adds the empty lemma. REQUIRES: all literals of `conflict` are false at level zero.
void FullSearch::finish(Ref conflict) {
  empty_ = lemmas_.id(conflict);
  const std::size_t size = lemmas_.codes(conflict).size();
  if (size == 0) return;  // A cycle of known arcs alone.
  premises_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    premises_.push_back(unit(!Literal{lemmas_.codes(conflict)[i]}));
  }
  premises_.push_back(empty_);
  empty_ = lemmas_.id(lemmas_.add(LemmaStore::Kind::Premises, {}, premises_));
}

std::vector<Lemma> FullSearch::proof() {
  insist(refuted_, "there is no proof");
  const Closure known(known_);
  const std::vector<LemmaId> needed = lemmas_.needed_by(empty_);
  std::vector<Lemma> proof;
  proof.reserve(needed.size());
  const auto renumbered = [&](LemmaId id) {
    return static_cast<LemmaId>(std::lower_bound(needed.begin(), needed.end(), id) -
                                needed.begin());
  };
  for (const LemmaId id : needed) {
    const Ref ref = lemmas_.ref(id);
    Lemma& lemma = proof.emplace_back();
    for (const std::uint32_t code : lemmas_.codes(ref)) lemma.literals.push_back(Literal{code});
    if (lemmas_.kind(ref) == LemmaStore::Kind::Cycle) {
      lemma.cycle = cycle(lemmas_.because(ref), known);
    } else {
      for (const LemmaId premise : lemmas_.because(ref)) {
        lemma.premises.push_back(renumbered(premise));
      }
    }
  }
  return proof;
}

// The cycle that explain() knows by the arcs of choices on it, and the taboo behind them.
std::vector<DynamicOrder::Step> FullSearch::cycle(std::span<const std::uint32_t> because,
                                                  const Closure& known) const {
  const LabelledTaboo& taboo = taboos_[because.back()];
  std::vector<DynamicOrder::Step> steps;
  Node at = taboo.from;
  const auto walk_to = [&](Node goal) {
    while (at != goal) {
      const auto out = known_.out(at);
      const auto next = std::find_if(out.begin(), out.end(),
                                     [&](Node node) { return known.reaches(node, goal); });
      insist(next != out.end(), "the search concluded from a path that is not there");
      steps.push_back({{node_[*next], node_[at]}, DynamicOrder::kNoLabel});
      at = *next;
    }
  };
  const auto take = [&](std::uint32_t arc) {
    const auto& [there, code] = arcs_[arc];
    steps.push_back({{node_[there.to], node_[there.from]}, code});
    at = there.to;
  };
  for (const std::uint32_t arc : because.first(because.size() - 1)) {
    walk_to(arcs_[arc].arc.from);
    take(arc);
  }
  walk_to(taboo.to);
  std::reverse(steps.begin(), steps.end());
  if (taboo.closing != FullProblem::kNoArc) take(taboo.closing);
  return steps;
}

}  // namespace ouro
