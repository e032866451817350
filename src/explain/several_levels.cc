// Summaries of verdicts at several levels: the worst outcome, and the strongest and weakest levels.

#include <algorithm>

#include "base/level_rules.h"
#include "ouro/explain.h"

namespace ouro {
namespace {

// Of what levels ask for, what nothing is said about.
struct Unsaid {
  bool real_time = false;
  bool sessions = false;
};

// What nothing is said about if `verdict` holds. Where clocks were compared, they say more than
// session order does.
Unsaid unsaid(const Verdict& verdict) {
  const auto none_of = [&](LeftOutKind kind) {
    return std::any_of(verdict.left_out.begin(), verdict.left_out.end(),
                       [&](const LeftOut& left) { return left.kind == kind && left.all(); });
  };
  const bool real_time = none_of(LeftOutKind::RealTime);
  const bool timed = rules(verdict.level).clocks() && !real_time;
  return {real_time, none_of(LeftOutKind::Sessions) && !timed};
}

// The strongest levels, `level` or below, that do not ask for what is not said.
std::vector<Level> without(Unsaid unsaid, Level level, Evidence evidence) {
  if (!unsaid.real_time && !unsaid.sessions) return {level};
  std::vector<Level> out;
  for (const LevelInfo& other : levels()) {
    const LevelRules& asks = rules(other.level);
    const bool said = !(unsaid.real_time && asks.clocks()) && !(unsaid.sessions && asks.sessions);
    if (said && decidable(other.level, evidence) && implies(level, other.level, evidence)) {
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

// The levels that hold; of one that asks for what nothing is said about, only what does not. If no
// level is left, session order counts as said, so that a history without sessions has a level.
std::vector<Level> holding(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  std::vector<Level> without_real_time;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome != Outcome::Holds) continue;
    const auto add = [&](Unsaid unsaid, std::vector<Level>& levels) {
      const auto some = without(unsaid, verdict.level, verdict.evidence);
      levels.insert(levels.end(), some.begin(), some.end());
    };
    const Unsaid all = unsaid(verdict);
    add(all, out);
    add({.real_time = all.real_time}, without_real_time);
  }
  if (out.empty()) out = std::move(without_real_time);
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
