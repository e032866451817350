#include "explain/smallest.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "check/check_within.h"
#include "check/implied.h"
#include "explain/excerpt.h"
#include "explain/explain_within.h"
#include "explain/lift.h"

namespace ouro {
namespace {

// In a history of more operations, a story of no more than kSmallStory transactions is good enough.
constexpr std::size_t kManyOps = 2'000;
constexpr std::size_t kSmallStory = 3;

bool is_mixed(Level level) { return rules(level).is(LevelFamily::Mixed); }

bool is_in_reach(const Verdict& verdict) {
  return verdict.outcome == Outcome::Violated && !is_mixed(verdict.level);
}

bool share_a_txn(const Story& one, const Story& two) {
  return std::any_of(one.txns.begin(), one.txns.end(), [&](TxnId txn) {
    return std::find(two.txns.begin(), two.txns.end(), txn) != two.txns.end();
  });
}

// How small and how bad a story is: less is told first.
struct Grade {
  std::size_t txns = ~std::size_t{0};
  Pattern pattern = Pattern::Internal;
  std::size_t level = 0;  // By timestamps, the place in levels() of the weakest level violated.
  constexpr auto operator<=>(const Grade&) const = default;
};

std::size_t place(Level level) {
  const auto at = std::find_if(levels().begin(), levels().end(),
                               [&](const LevelInfo& each) { return each.level == level; });
  return static_cast<std::size_t>(at - levels().begin());
}

Grade grade(const Story& story) {
  std::size_t weakest = 0;
  if (story.evidence == Evidence::Timestamps && !story.weakest_violated.empty()) {
    weakest = levels().size();
    for (const Level level : story.weakest_violated) weakest = std::min(weakest, place(level));
  }
  return {story.txns.size(), story.pattern, weakest};
}

// The best story; null if there is none.
const Story* best(const std::vector<Story>& stories) {
  const auto at =
      std::min_element(stories.begin(), stories.end(),
                       [](const Story& a, const Story& b) { return grade(a) < grade(b); });
  return at == stories.end() ? nullptr : &*at;
}

class Smallest {
 public:
  Smallest(const History& history, std::span<const Verdict> verdicts, const CheckOptions& how,
           const ExplainOptions& telling, const Budget& budget, std::vector<Explanation> known)
      : h_(history),
        verdicts_(verdicts),
        how_(how),
        telling_(telling),
        budget_(budget),
        known_(std::move(known)) {}

  void improve(Explanation& explanation) {
    if (!is_mixed(explanation.level)) look_beside(explanation);
    const Story* const first = best(explanation.stories);
    if (first == nullptr) return;
    std::stable_partition(
        explanation.stories.begin(), explanation.stories.end(),
        [top = grade(*first)](const Story& story) { return grade(story) == top; });
  }

 private:
  void look_beside(Explanation& explanation) {
    for (const Level level : levels_beside(explanation.level)) {
      const Story* const first = best(explanation.stories);
      const bool good = first != nullptr && first->txns.size() <= kSmallStory && is_large();
      if (good || budget_.exhausted()) return;
      const std::vector<Story>& stories = explained(level).stories;
      if (how_.evidence == Evidence::Timestamps) tell_worse(explanation, stories);
      const Story* const other = best(stories);
      if (other == nullptr || !is_better(*other, first)) continue;
      if (implied_in(h_, explanation.level, level, how_.evidence)) {
        put_first(explanation, stories);
        continue;
      }
      auto story = retold(*other, explanation.level);
      if (story && is_better(*story, first)) put_first(explanation, {*std::move(story)});
    }
  }

  // Puts stories of a weaker level in the place of those of the same name that are milder.
  static void tell_worse(Explanation& explanation, const std::vector<Story>& weaker) {
    for (Story& story : explanation.stories) {
      for (const Story& other : weaker) {
        const bool same = other.pattern == story.pattern && other.variant == story.variant;
        if (same && is_better(other, &story)) story = other;
      }
    }
  }

  [[nodiscard]] bool is_large() const { return h_.op_count() > kManyOps; }

  static bool is_better(const Story& one, const Story* other) {
    return other == nullptr || grade(one) < grade(*other);
  }

  // The violated levels that are weaker than `level`, or neither weaker nor stronger; the weakest
  // first. By timestamps a story is about one operation, and only those of weaker levels count.
  [[nodiscard]] std::vector<Level> levels_beside(Level level) const {
    std::vector<Level> out;
    for (const Verdict& verdict : verdicts_) {
      const Level other = verdict.level;
      const bool apart = !implied_in(h_, level, other, how_.evidence);
      const bool stronger = apart && implied_in(h_, other, level, how_.evidence);
      if (!is_in_reach(verdict) || other == level || stronger) continue;
      if (!(apart && how_.evidence == Evidence::Timestamps)) out.push_back(other);
    }
    std::sort(out.begin(), out.end(), InListOrder());
    if (is_large()) {
      std::erase_if(out, [&, all = out](Level one) {
        return std::any_of(all.begin(), all.end(), [&](Level other) {
          return other != one && implied_in(h_, one, other, how_.evidence) &&
                 !implied_in(h_, other, one, how_.evidence);
        });
      });
    }
    return out;
  }

  // What explain() says of the level; no stories if a limit keeps it from saying anything.
  const Explanation& explained(Level level) {
    const auto at = std::find_if(known_.begin(), known_.end(),
                                 [&](const Explanation& each) { return each.level == level; });
    if (at != known_.end()) return *at;
    known_.push_back({.level = level, .stories = {}, .complete = false});
    const auto verdict = check_within(budget_, h_, level, how_);
    if (verdict.ok() && verdict->outcome == Outcome::Violated) {
      known_.back() = explain_within(budget_, h_, *verdict, telling_);
    }
    return known_.back();
  }

  // The best story of `level` that the transactions of a story of another level have; nothing if
  // they do not violate `level` by themselves.
  [[nodiscard]] std::optional<Story> retold(const Story& story, Level level) const {
    const Excerpt part = whole_txns(h_, story.txns, how_.evidence);
    const auto verdict = check_within(budget_, part.history, level, how_);
    if (!verdict.ok() || verdict->outcome != Outcome::Violated) return std::nullopt;
    const Explanation told = explain_within(budget_, part.history, *verdict, telling_);
    const Story* const found = best(told.stories);
    if (found == nullptr) return std::nullopt;
    Story out = *found;
    lift(out, part);
    return out;
  }

  // Puts stories in front of those that have nothing to do with them.
  static void put_first(Explanation& explanation, std::vector<Story> stories) {
    std::erase_if(explanation.stories, [&](const Story& story) {
      return std::any_of(stories.begin(), stories.end(),
                         [&](const Story& first) { return share_a_txn(first, story); });
    });
    explanation.stories.insert(explanation.stories.begin(),
                               std::make_move_iterator(stories.begin()),
                               std::make_move_iterator(stories.end()));
    explanation.complete = false;
  }

  const History& h_;
  const std::span<const Verdict> verdicts_;
  const CheckOptions& how_;
  const ExplainOptions& telling_;
  const Budget& budget_;
  std::vector<Explanation> known_;
};

}  // namespace

void tell_smallest(const History& history, std::span<const Verdict> verdicts,
                   const CheckOptions& how, const ExplainOptions& telling, const Budget& budget,
                   std::vector<Explanation>& explanations, std::size_t first) {
  Smallest smallest(history, verdicts, how, telling, budget, explanations);
  for (std::size_t i = first; i < explanations.size(); ++i) smallest.improve(explanations[i]);
}

}  // namespace ouro
