#include "check/several_levels.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "base/level_rules.h"
#include "base/parallel.h"
#include "check/one_level.h"

namespace ouro {
namespace {

// Decides several levels, the strongest first: if it holds, so do all that it implies. Without
// limits, two of which neither implies the other are decided at once. If time or work is limited,
// one that takes too long is put off, so that it does not keep the others from being decided; it
// may be answered by then, as a weaker one is violated.
class LevelByLevel {
 public:
  LevelByLevel(Observed& observed, const PredicateReads& predicates, const Budget& budget,
               const CheckOptions& options)
      : observed_(observed), predicates_(predicates), budget_(budget), options_(options) {}

  std::vector<Verdict> run(std::span<const Level> levels) {
    verdicts_.resize(levels.size());
    beside_.resize(levels.size());
    std::vector<std::size_t> order(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      verdicts_[i].level = levels[i];
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return InListOrder()(levels[b], levels[a]);
    });
    for (std::size_t done = 0; done < order.size(); ++done) {
      const std::size_t here = order[done];
      const Verdict* holds = find(Outcome::Holds, levels[here]);
      const bool last = done + 1 == order.size();
      verdicts_[here] = holds != nullptr            ? weakened(*holds, levels[here])
                        : beside_[here].has_value() ? *std::move(beside_[here])
                        : last                      ? decide(levels[here])
                        : budget_.limited()
                            ? try_soon(levels[here])
                            : decide_with_another(levels, std::span(order).subspan(done));
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      Verdict& verdict = verdicts_[order[i]];
      if (verdict.outcome == Outcome::Undecided) settle(verdict);
    }
    for (Verdict& verdict : verdicts_) verdict.evidence = options_.evidence;
    return std::move(verdicts_);
  }

 private:
  // A verdict that answers `level`: of a stronger one that holds or a weaker one that does not.
  [[nodiscard]] const Verdict* find(Outcome outcome, Level level) const {
    for (const Verdict& verdict : verdicts_) {
      const bool answers =
          outcome == Outcome::Holds ? implies(verdict.level, level) : implies(level, verdict.level);
      if (verdict.outcome == outcome && answers) return &verdict;
    }
    return nullptr;
  }

  [[nodiscard]] Verdict decide(Level level) {
    return decide_level(observed_, predicates_, level, budget_, options_);
  }

  // Decides the first of `order`; beside it, on another thread, the next one that must be decided
  // however the first turns out.
  [[nodiscard]] Verdict decide_with_another(std::span<const Level> levels,
                                            std::span<const std::size_t> order) {
    const Level level = levels[order[0]];
    const auto other = std::find_if(order.begin() + 1, order.end(), [&](std::size_t i) {
      return !beside_[i] && !implies(level, levels[i]) &&
             find(Outcome::Holds, levels[i]) == nullptr;
    });
    if (other == order.end() || !worth_a_thread()) return decide(level);
    Verdict verdict;
    for_each_part(2, [&](std::size_t part) {
      if (part == 0) {
        verdict = decide(level);
      } else {
        beside_[*other] = decide(levels[*other]);
      }
    });
    return verdict;
  }

  // Not where memory is limited: two levels at once take twice as much. Nor with predicate reads:
  // each level has edges of its own for them.
  [[nodiscard]] bool worth_a_thread() const {
    constexpr std::size_t kManyItems = 20'000;
    return !observed_.stopped() && observed_.items().size() >= kManyItems && predicates_.empty() &&
           options_.memory_limit == 0 && thread_count(options_.threads) > 1;
  }

  // With a share of the time and of the work.
  [[nodiscard]] Verdict try_soon(Level level) {
    const Budget share(budget_, 4);
    return budget_.exhausted() ? Verdict{.level = level}
                               : decide_level(observed_, predicates_, level, share, options_);
  }

  void settle(Verdict& verdict) {
    const Level level = verdict.level;
    if (const Verdict* holds = find(Outcome::Holds, level)) {
      verdict = weakened(*holds, level);
    } else if (const Verdict* violated = find(Outcome::Violated, level)) {
      verdict = *violated;
      verdict.level = level;
    } else if (!budget_.exhausted() && verdict.reason.empty()) {
      verdict = decide(level);
    }
    set_reason(verdict);
  }
  // Keeps the reason that a decision gave itself.
  void set_reason(Verdict& verdict) const {
    if (verdict.outcome != Outcome::Undecided || !verdict.reason.empty()) return;
    verdict.reason = stop_reason(budget_, options_);
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  std::vector<Verdict> verdicts_;
  std::vector<std::optional<Verdict>> beside_;  // Decided before their turn.
};

// Decides several levels by as few of them as possible: first the strongest, as most databases keep
// what they promise; once that fails, whichever tells most about the others however it turns out.
// Of a limit of time or work none may take more than a share before all had their turn; and once
// one took too long, those that need no search come first, as they are quick.
class OutcomesOnly {
 public:
  OutcomesOnly(Observed& observed, const PredicateReads& predicates, const Budget& budget,
               const CheckOptions& options)
      : observed_(observed), predicates_(predicates), budget_(budget), options_(options) {}

  std::vector<Verdict> run(std::span<const Level> levels) {
    std::vector<Verdict> verdicts;
    for (const Level level : levels) {
      verdicts.push_back({.level = level, .evidence = options_.evidence});
    }
    if (budget_.limited()) ask_each(verdicts, kShare);
    ask_each(verdicts, 1);
    for (Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::Undecided) continue;
      verdict.reason =
          budget_.exhausted() || reason_.empty() ? stop_reason(budget_, options_) : reason_;
    }
    return verdicts;
  }

 private:
  static constexpr unsigned kShare = 4;

  // Gives every level that is open one turn, of the `share`th part of the time and of the work.
  void ask_each(std::vector<Verdict>& verdicts, unsigned share) {
    std::vector<Level> slow;
    for (auto open = undecided(verdicts, slow); !open.empty() && !budget_.exhausted();
         open = undecided(verdicts, slow)) {
      const Level next = choose(open, !slow.empty());
      const Outcome outcome = decide(next, share);
      if (outcome == Outcome::Undecided) slow.push_back(next);
      violated_ |= outcome == Outcome::Violated;
      for (Verdict& verdict : verdicts) {
        const bool follows =
            outcome == Outcome::Holds ? implies(next, verdict.level) : implies(verdict.level, next);
        if (follows && outcome != Outcome::Undecided) verdict.outcome = outcome;
      }
    }
  }

  [[nodiscard]] Outcome decide(Level level, unsigned share) {
    if (share == 1) {
      const Verdict verdict = decide_level(observed_, predicates_, level, budget_, options_);
      if (!verdict.reason.empty()) reason_ = verdict.reason;
      return verdict.outcome;
    }
    const Budget part(budget_, share);
    return decide_level(observed_, predicates_, level, part, options_).outcome;
  }

  [[nodiscard]] Level choose(std::span<const Level> open, bool slow) const {
    if (slow) {
      // Of those that need no search, the strongest.
      std::vector<Level> quick;
      std::copy_if(open.begin(), open.end(), std::back_inserter(quick),
                   [](Level level) { return rules(level).is(LevelFamily::CommitOrder); });
      if (!quick.empty()) return *std::max_element(quick.begin(), quick.end(), InListOrder());
    }
    return violated_ || slow ? most_telling(open)
                             : *std::max_element(open.begin(), open.end(), InListOrder());
  }

  static std::vector<Level> undecided(std::span<const Verdict> verdicts,
                                      std::span<const Level> but) {
    std::vector<Level> out;
    for (const Verdict& verdict : verdicts) {
      const bool left_out = std::find(but.begin(), but.end(), verdict.level) != but.end();
      if (verdict.outcome == Outcome::Undecided && !left_out) out.push_back(verdict.level);
    }
    return out;
  }

  static Level most_telling(std::span<const Level> open) {
    const auto told = [&](Level level) {
      const auto weaker = std::count_if(open.begin(), open.end(),
                                        [&](Level other) { return implies(level, other); });
      const auto stronger = std::count_if(open.begin(), open.end(),
                                          [&](Level other) { return implies(other, level); });
      return std::min(weaker, stronger);
    };
    return *std::max_element(open.begin(), open.end(),
                             [&](Level a, Level b) { return told(a) < told(b); });
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  bool violated_ = false;  // Whether any is.
  std::string reason_;     // Why one could not be decided, if it was no limit of the user.
};

}  // namespace

std::vector<Verdict> decide_levels(Observed& observed, const PredicateReads& predicates,
                                   std::span<const Level> levels, const Budget& budget,
                                   const CheckOptions& options) {
  return options.outcomes_only ? OutcomesOnly(observed, predicates, budget, options).run(levels)
                               : LevelByLevel(observed, predicates, budget, options).run(levels);
}

}  // namespace ouro
