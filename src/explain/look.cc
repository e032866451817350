#include "explain/look.h"

#include <algorithm>

#include "check/check_within.h"

namespace ouro {
namespace {

constexpr std::size_t kMany = 500;  // How many stories of each name are told, at most.

class Look {
 public:
  Look(const Expectation& expectation, const History& history,
       std::span<const Explanation> explanations, const CheckOptions& options, const Budget& budget)
      : history_(history),
        options_(options),
        budget_(budget),
        found_(explanations.begin(), explanations.end()) {
    for (const auto& names : {expectation.shows, expectation.lacks}) {
      wanted_.shows.insert(wanted_.shows.end(), names.begin(), names.end());
    }
    options_.examples = std::max(options_.examples, kMany);
  }

  Looked run(std::span<const Verdict> verdicts) {
    const std::size_t known = found_.size();
    for (const Verdict& verdict : verdicts) {
      if (is_over()) break;
      const auto told = std::find_if(found_.begin(), found_.end(), [&](const Explanation& each) {
        return each.level == verdict.level;
      });
      if (told == found_.end() || !told->complete) tell(verdict);
    }
    for (const LevelInfo& level : levels()) {
      if (is_over()) break;
      if (is_weaker(level.level, verdicts)) check_too(level.level);
    }
    return {{found_.begin() + static_cast<std::ptrdiff_t>(known), found_.end()},
            cut_short_ && !all_found()};
  }

 private:
  // Whether all names were found, so that nothing is left to look for.
  [[nodiscard]] bool all_found() const { return judge(wanted_, {}, found_).complaints.empty(); }

  [[nodiscard]] bool is_over() {
    cut_short_ |= budget_.exhausted();
    return budget_.exhausted() || all_found();
  }

  // Whether the level was not asked for, but is implied by a violated level that was.
  [[nodiscard]] bool is_weaker(Level level, std::span<const Verdict> verdicts) const {
    if (!decidable(level, options_.evidence)) return false;
    bool weaker = false;
    for (const Verdict& verdict : verdicts) {
      if (verdict.level == level) return false;
      weaker |=
          verdict.outcome == Outcome::Violated && implies(verdict.level, level, options_.evidence);
    }
    return weaker;
  }

  void check_too(Level level) {
    const auto verdict = check_within(budget_, history_, level, options_);
    if (!verdict.ok()) return;
    cut_short_ |= verdict->outcome == Outcome::Undecided;
    tell(*verdict);
  }

  void tell(const Verdict& verdict) {
    if (verdict.outcome != Outcome::Violated) return;
    ExplainOptions how;
    how.examples = kMany;
    how.cancelled = options_.cancelled;
    how.clock_drift = options_.clock_drift;
    how.threads = options_.threads;
    how.memory_limit = options_.memory_limit;
    how.time_limit = budget_.time_left();
    found_.push_back(explain(history_, verdict, how));
    cut_short_ |= budget_.exhausted();
  }

  const History& history_;
  CheckOptions options_;
  const Budget& budget_;
  Expectation wanted_;              // All names to look for, as if they should be shown.
  std::vector<Explanation> found_;  // Those given, then those made here.
  bool cut_short_ = false;          // A limit was reached.
};

}  // namespace

Looked look_for(const Expectation& expectation, const History& history,
                std::span<const Verdict> verdicts, std::span<const Explanation> explanations,
                const CheckOptions& options, const Budget& budget) {
  return Look(expectation, history, explanations, options, budget).run(verdicts);
}

}  // namespace ouro
