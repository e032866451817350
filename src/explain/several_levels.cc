// Summaries of verdicts at several levels: the worst outcome, and the strongest and weakest levels.

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/explain.h"

namespace ouro {
namespace {

// The strongest levels below `level` that do not ask for real time.
std::vector<Level> without_real_time(Level level, Evidence evidence) {
  std::vector<Level> out;
  for (const LevelInfo& other : levels()) {
    if (!rules(other.level).clocks() && decidable(other.level, evidence) &&
        implies(level, other.level, evidence)) {
      out.push_back(other.level);
    }
  }
  const auto covered = [&, all = out](Level one) {
    return std::any_of(all.begin(), all.end(),
                       [&](Level other) { return other != one && implies(other, one, evidence); });
  };
  std::erase_if(out, covered);
  return out;
}

bool has_clocks(const Verdict& verdict) {
  return std::none_of(verdict.left_out.begin(), verdict.left_out.end(), [](const LeftOut& left) {
    return left.kind == LeftOutKind::RealTime && left.all();
  });
}

// The levels that hold. If nothing is said about real time, then of a level that asks for it only
// what does not.
std::vector<Level> holding(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome != Outcome::Holds) continue;
    if (has_clocks(verdict)) {
      out.push_back(verdict.level);
    } else {
      const auto some = without_real_time(verdict.level, verdict.evidence);
      out.insert(out.end(), some.begin(), some.end());
    }
  }
  std::sort(out.begin(), out.end(), InListOrder());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Outcome worst(std::span<const Verdict> verdicts) {
  Outcome out = Outcome::Holds;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Violated) return Outcome::Violated;
    if (verdict.outcome == Outcome::Undecided) out = Outcome::Undecided;
  }
  return out;
}

std::vector<Level> strongest_holding(std::span<const Verdict> verdicts) {
  const std::vector<Level> all = holding(verdicts);
  std::vector<Level> out;
  for (const Level level : all) {
    const bool covered = std::any_of(all.begin(), all.end(), [&](Level other) {
      return other != level && implies(other, level);
    });
    if (!covered) out.push_back(level);
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
