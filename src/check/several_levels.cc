#include "check/several_levels.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/level_rules.h"
#include "base/parallel.h"
#include "check/implied.h"
#include "check/observed/phantom.h"
#include "check/one_level.h"

namespace ouro {
namespace {

// Decides several levels, the strongest first: if it holds, so do all that it implies.
//
// Without limits of time or work, two levels of which neither implies the other are decided at
// once. With limits, every level but the last first gets a share only, so that a slow one does not
// keep the others from being decided. Those that stay undecided come again at the end, the weakest
// first: by then the verdict of another level may answer for them.
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
      if (const Verdict* violated = find_violated(levels[here]); holds == nullptr && violated) {
        verdicts_[here] = *violated;
        verdicts_[here].level = levels[here];
        continue;
      }
      const bool last = done + 1 == order.size();
      verdicts_[here] = holds != nullptr            ? weakened(*holds, levels[here])
                        : beside_[here].has_value() ? take(*std::move(beside_[here]))
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
  // A verdict with `outcome` that answers for `level`: of a stronger level that holds, or of a
  // weaker one that is violated. Null if there is none.
  [[nodiscard]] const Verdict* find(Outcome outcome, Level level) const {
    for (const Verdict& verdict : verdicts_) {
      const bool answers =
          outcome == Outcome::Holds ? implied(verdict.level, level) : implied(level, verdict.level);
      if (verdict.outcome == outcome && answers) return &verdict;
    }
    return nullptr;
  }

  // A verdict whose proof is one for `level`, too: of a level that is the same for this history, or
  // that differs in phantoms only, of which the proof says nothing. Null if there is none.
  [[nodiscard]] const Verdict* find_violated(Level level) const {
    if (const Verdict* same = find(Outcome::Violated, level)) return same;
    const auto alike = std::find_if(verdicts_.begin(), verdicts_.end(), [&](const Verdict& other) {
      return other.outcome == Outcome::Violated && rules(level).phantoms &&
             other.level == with_phantoms_forbidden(level);
    });
    return alike != verdicts_.end() && is_about_items(*alike) ? &*alike : nullptr;
  }
  // Whether a violation is so whatever predicate reads left out.
  [[nodiscard]] bool is_about_items(const Verdict& verdict) const {
    if (options_.evidence != Evidence::Observed || !verdict.untold.empty()) return false;
    const Items& items = observed_.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (is_phantom(observed_, ItemId{i}) && observed_.external(ItemId{i})) return false;
    }
    return true;
  }

  [[nodiscard]] bool implied(Level stronger, Level weaker) const {
    return implied_in(observed_.history(), stronger, weaker, Evidence::Observed);
  }

  [[nodiscard]] Verdict decide(Level level) {
    return decide_level(observed_, predicates_, level, budget_, options_);
  }

  // A verdict that was found before its turn, and what it took. Only if it is used is that work
  // counted, for with one thread nobody would have done it otherwise.
  struct Beside {
    Verdict verdict;
    std::uint64_t steps = 0;
  };
  [[nodiscard]] Verdict take(Beside beside) {
    budget_.charge(beside.steps);
    return std::move(beside.verdict);
  }

  // Decides the level at order[0]. At the same time another thread decides the next one whose
  // answer does not follow even if that level holds. REQUIRES: neither time nor work is limited.
  [[nodiscard]] Verdict decide_with_another(std::span<const Level> levels,
                                            std::span<const std::size_t> order) {
    const Level level = levels[order[0]];
    const auto other = std::find_if(order.begin() + 1, order.end(), [&](std::size_t i) {
      return !beside_[i] && !implied(level, levels[i]) &&
             find(Outcome::Holds, levels[i]) == nullptr;
    });
    if (other == order.end() || !worth_a_thread()) return decide(level);
    Verdict verdict;
    for_each_part(2, [&](std::size_t part) {
      if (part == 0) {
        verdict = decide(level);
      } else {
        const Budget apart({}, options_.cancelled);
        Verdict early =
            decide_level(observed_, predicates_, levels[*other], apart, options_);
        beside_[*other] = Beside{std::move(early), apart.spent()};
      }
    });
    return verdict;
  }

  // Whether to decide two levels at once. Not if memory is limited, as that takes twice as much;
  // nor with predicate reads, as each level sets edges of its own for them in `observed_`.
  [[nodiscard]] bool worth_a_thread() const {
    constexpr std::size_t kManyItems = 20'000;
    return !observed_.stopped() && observed_.items().size() >= kManyItems && predicates_.empty() &&
           options_.memory_limit == 0 && thread_count(options_.threads) > 1;
  }

  // Decides `level` with a quarter of the time and of the work; undecided if that is not enough.
  [[nodiscard]] Verdict try_soon(Level level) {
    const Budget share(budget_, 4);
    return budget_.exhausted() ? Verdict{.level = level}
                               : decide_level(observed_, predicates_, level, share, options_);
  }

  // Answers an undecided level: by the verdict of another one, or with what is left of the budget.
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
  // Says why a verdict is undecided, unless the decision itself gave a reason.
  void set_reason(Verdict& verdict) const {
    if (verdict.outcome != Outcome::Undecided || !verdict.reason.empty()) return;
    verdict.reason = stop_reason(budget_, options_);
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  std::vector<Verdict> verdicts_;
  // Of levels that were decided before their turn.
  std::vector<std::optional<Beside>> beside_;
};

// Finds the outcomes of several levels by deciding as few of them as possible. First comes the
// strongest, as most databases keep what they promise; once a level is violated, the one comes next
// that settles most of the others however it turns out.
//
// If time or work is limited, no level gets more than a share of it before all had their turn: the
// first, which answers for most others, a half, and those behind it a quarter each. Once one used
// up its share, levels that need no search come first, as they are quick.
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
  static constexpr unsigned kFirstShare = 2;
  static constexpr unsigned kShare = 4;

  // Gives every undecided level one turn, with 1/`share` of the time and of the work, and fills in
  // the outcomes that follow.
  void ask_each(std::vector<Verdict>& verdicts, unsigned share) {
    std::vector<Level> slow;
    for (auto open = undecided(verdicts, slow); !open.empty() && !budget_.exhausted();
         open = undecided(verdicts, slow)) {
      const Level next = choose(open, !slow.empty());
      const bool first = std::exchange(first_, false);
      const Outcome outcome = decide(next, first && share > 1 ? kFirstShare : share);
      if (outcome == Outcome::Undecided) slow.push_back(next);
      violated_ |= outcome == Outcome::Violated;
      for (Verdict& verdict : verdicts) {
        const bool follows =
            outcome == Outcome::Holds ? implied(next, verdict.level) : implied(verdict.level, next);
        if (follows && outcome != Outcome::Undecided) verdict.outcome = outcome;
      }
    }
  }

  [[nodiscard]] bool implied(Level stronger, Level weaker) const {
    return implied_in(observed_.history(), stronger, weaker, Evidence::Observed);
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

  // The level to decide next. `slow`: whether a level has used up its turn.
  [[nodiscard]] Level choose(std::span<const Level> open, bool slow) const {
    if (slow) {
      // The strongest of the levels that need no search.
      std::vector<Level> quick;
      std::copy_if(open.begin(), open.end(), std::back_inserter(quick),
                   [](Level level) { return rules(level).is(LevelFamily::CommitOrder); });
      if (!quick.empty()) return *std::max_element(quick.begin(), quick.end(), InListOrder());
    }
    return violated_ || slow ? most_telling(open)
                             : *std::max_element(open.begin(), open.end(), InListOrder());
  }

  // The undecided levels that are not among `but`.
  static std::vector<Level> undecided(std::span<const Verdict> verdicts,
                                      std::span<const Level> but) {
    std::vector<Level> out;
    for (const Verdict& verdict : verdicts) {
      const bool left_out = std::find(but.begin(), but.end(), verdict.level) != but.end();
      if (verdict.outcome == Outcome::Undecided && !left_out) out.push_back(verdict.level);
    }
    return out;
  }

  // The level that settles most of `open`, counting the less telling of its two outcomes.
  [[nodiscard]] Level most_telling(std::span<const Level> open) const {
    const auto told = [&](Level level) {
      const auto weaker = std::count_if(open.begin(), open.end(),
                                        [&](Level other) { return implied(level, other); });
      const auto stronger = std::count_if(open.begin(), open.end(),
                                          [&](Level other) { return implied(other, level); });
      return std::min(weaker, stronger);
    };
    return *std::max_element(open.begin(), open.end(),
                             [&](Level a, Level b) { return told(a) < told(b); });
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  bool first_ = true;      // Whether no level was asked yet.
  bool violated_ = false;  // Whether any level was found violated.
  std::string reason_;     // Why a level could not be decided, if not for a limit.
};

}  // namespace

std::vector<Verdict> decide_levels(Observed& observed, const PredicateReads& predicates,
                                   std::span<const Level> levels, const Budget& budget,
                                   const CheckOptions& options) {
  return options.outcomes_only ? OutcomesOnly(observed, predicates, budget, options).run(levels)
                               : LevelByLevel(observed, predicates, budget, options).run(levels);
}

}  // namespace ouro
