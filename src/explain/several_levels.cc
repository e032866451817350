// Summaries of verdicts at several levels: the worst outcome, and the strongest and weakest levels.

#include <algorithm>

#include "ouro/explain.h"

namespace ouro {

Outcome worst(std::span<const Verdict> verdicts) {
  Outcome out = Outcome::Holds;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Violated) return Outcome::Violated;
    if (verdict.outcome == Outcome::Undecided) out = Outcome::Undecided;
  }
  return out;
}

std::vector<Level> strongest_holding(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    const bool covered = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& other) {
      return other.outcome == Outcome::Holds && other.level != verdict.level &&
             implies(other.level, verdict.level);
    });
    if (verdict.outcome == Outcome::Holds && !covered) out.push_back(verdict.level);
  }
  return out;
}

std::vector<Level> weakest_violated(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    const bool covered = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& other) {
      return other.outcome == Outcome::Violated && other.level != verdict.level &&
             implies(verdict.level, other.level);
    });
    if (verdict.outcome == Outcome::Violated && !covered) out.push_back(verdict.level);
  }
  return out;
}

}  // namespace ouro
