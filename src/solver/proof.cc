#include "solver/proof.h"

#include <algorithm>

namespace ouro {
namespace {

// Checks lemmas one after the other.
class ProofChecker {
 public:
  explicit ProofChecker(std::span<const Lemma> lemmas) : lemmas_(lemmas) {
    std::uint32_t literals = 0;
    for (const Lemma& lemma : lemmas) {
      for (const Literal literal : lemma.literals) literals = std::max(literals, literal.code | 1);
    }
    true_.resize(std::size_t{literals} + 1, false);
  }

  std::string run() {
    if (lemmas_.empty() || !lemmas_.back().literals.empty()) {
      return "the proof does not end with a contradiction";
    }
    for (std::size_t i = 0; i < lemmas_.size(); ++i) {
      const Lemma& lemma = lemmas_[i];
      const bool believed = lemma.cycle.empty() && lemma.premises.empty();
      const char* wrong = "";
      for (const Literal literal : lemma.literals) assume(!literal);
      if (!lemma.cycle.empty()) {
        wrong = check_cycle(lemma);
      } else if (!believed) {
        wrong = follow(lemma, i);
      }
      for (const Literal literal : assumed_) true_[literal.code] = false;
      assumed_.clear();
      if (*wrong != 0) return "lemma " + std::to_string(i) + ": " + wrong;
    }
    return "";
  }

 private:
  void assume(Literal literal) {
    true_[literal.code] = true;
    assumed_.push_back(literal);
  }

  // Whether the cycle is closed, and its labels are the opposites of exactly the lemma's literals.
  const char* check_cycle(const Lemma& lemma) {
    for (std::size_t i = 0; i < lemma.cycle.size(); ++i) {
      const auto& [arc, label] = lemma.cycle[i];
      if (arc.to != lemma.cycle[(i + 1) % lemma.cycle.size()].arc.from) return "is no cycle";
      if (label == DynamicOrder::kNoLabel) continue;
      if (label >= true_.size() || !true_[label]) return "has an arc that it does not exclude";
    }
    for (const auto& [_, label] : lemma.cycle) {
      if (label != DynamicOrder::kNoLabel) true_[label] = false;
    }
    const auto still_true = [&](Literal literal) { return true_[(!literal).code]; };
    return std::any_of(lemma.literals.begin(), lemma.literals.end(), still_true)
               ? "excludes a side that its cycle does not need"
               : "";
  }

  // Whether the premises contradict what is assumed, by unit propagation in their order.
  const char* follow(const Lemma& lemma, std::size_t number) {
    for (const LemmaId premise : lemma.premises) {
      if (premise >= number) return "rests on a lemma that is not before it";
      Literal open;
      for (const Literal literal : lemmas_[premise].literals) {
        if (true_[(!literal).code]) continue;
        if (open != Literal{}) return "has a premise with more than one open literal";
        open = literal;
      }
      if (open == Literal{}) return premise == lemma.premises.back() ? "" : "is proven too early";
      if (true_[open.code]) return "has a premise that says nothing";
      assume(open);
    }
    return "does not follow from its premises";
  }

  std::span<const Lemma> lemmas_;
  std::vector<bool> true_;  // By the code of a literal.
  std::vector<Literal> assumed_;
};

}  // namespace

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

std::string complaint(std::span<const Lemma> lemmas) { return ProofChecker(lemmas).run(); }

}  // namespace ouro
