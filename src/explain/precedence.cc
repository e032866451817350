// precedence(): whether `first` must precede `second`. Something is added to the history that
// implies the opposite. If the level forbids the result, `first` must precede `second`, and the
// cycle without the edge that was added is the reason.
//
// At levels that forbid lost updates, a key is added of which `second` reads the initial value and
// which `first` writes, so that `second` did not see `first`. At the others, who saw whom says
// little about the commit order; there a transaction is added that saw `second` commit before
// `first`.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/level_rules.h"
#include "check/check_within.h"
#include "check/observed/observed.h"
#include "explain/excerpt.h"
#include "explain/lift.h"
#include "ouro/explain.h"

namespace ouro {
namespace {

// Whether to ask by adding a transaction, see above.
bool by_commit_order(Level level) { return rules(level).lost_updates; }

// Tells what was added to a history to ask the question. `asked` is the whole history with that;
// ids are those of `asked.history`.
class Added {
 public:
  Added(const Excerpt& asked, TxnId first, TxnId second)
      : asked_(asked), first_(first), second_(second) {}

  // Removes what was added from the story.
  void remove_from(Story& story) const {
    std::erase_if(story.txns, [&](TxnId txn) { return is_added(txn); });
    std::erase_if(story.ops, [&](OpId op) { return !asked_.ops[op.index()].valid(); });
    std::erase_if(story.support, [&](const Edge& edge) { return touches_added(edge); });
    std::erase_if(story.cases, [&](const Case& each) {
      return std::any_of(each.cycle.begin(), each.cycle.end(),
                         [&](const Edge& edge) { return touches_added(edge); });
    });
    for (Case& each : story.cases) {
      std::erase_if(each.given, [&](const Assumption& given) { return is_added(given.key); });
      each.mirrors.reset();
      cut_open(each.cycle);
    }
  }

 private:
  [[nodiscard]] bool is_added(TxnId txn) const {
    return txn.valid() && !asked_.txns[txn.index()].valid();
  }
  [[nodiscard]] bool is_added(KeyId key) const {
    return key.valid() && !asked_.keys[key.index()].valid();
  }
  [[nodiscard]] bool touches_added(const Edge& edge) const {
    return is_added(edge.from) || is_added(edge.to);
  }
  [[nodiscard]] bool is_question(const Edge& edge) const {
    return edge.from == second_ && edge.to == first_ && is_added(edge.key);
  }

  // Removes the edge that was added from the cycle, so that a path from `first` to `second` is
  // left.
  void cut_open(std::vector<Edge>& cycle) const {
    const auto at = std::find_if(cycle.begin(), cycle.end(),
                                 [&](const Edge& edge) { return is_question(edge); });
    if (at == cycle.end()) return;
    std::rotate(cycle.begin(), at, cycle.end());
    cycle.erase(cycle.begin());
  }

  const Excerpt& asked_;
  TxnId first_, second_;
};

// Whether both transactions count. If not, no order concerns them.
Result<bool> both_count(const Budget& budget, const History& history, TxnId first, TxnId second,
                        const CheckOptions& options) {
  const auto observed = Observed::observe(history, budget, options.threads, options.evidence);
  if (!observed.ok()) return observed.error();
  return observed->counted(first) && observed->counted(second);
}

// The order of a verdict that holds, without what was added to the history to ask the question.
std::vector<Event> order_of(const Verdict& verdict, const Excerpt& asked) {
  std::vector<Event> out;
  const auto add = [&](TxnId txn, bool commit) {
    const TxnId original = asked.txns[txn.index()];
    if (original.valid()) out.push_back({original, commit});
  };
  if (verdict.schedule.empty()) {
    for (const TxnId txn : verdict.order) add(txn, true);
  } else {
    for (const Event& event : verdict.schedule) add(event.txn, event.commit);
  }
  return out;
}

// The strongest level, `level` aside, that the history does not violate; the last in the list if
// there are several; nothing if there is none, or it was not found within the budget.
std::optional<Level> strongest_kept(const Budget& budget, const History& history, Level level,
                                    CheckOptions options) {
  std::vector<Level> others;
  for (const LevelInfo& other : levels()) {
    const bool stronger = implies(other.level, level, options.evidence);
    if (!stronger && decidable(other.level, options.evidence)) others.push_back(other.level);
  }
  if (others.empty()) return std::nullopt;
  options.outcomes_only = true;
  const auto verdicts = check_within(budget, history, others, options);
  if (!verdicts.ok()) return std::nullopt;
  const auto strongest = strongest_holding(*verdicts);
  return strongest.empty() ? std::nullopt : std::optional(strongest.back());
}

// precedence() at a level that the history does not violate.
Result<Precedence> ask(const Budget& budget, const History& history, TxnId first, TxnId second,
                       const ExplainOptions& options, const CheckOptions& check_options,
                       Precedence out) {
  const auto both = both_count(budget, history, first, second, check_options);
  if (!both.ok()) return both.error();
  if (budget.exhausted()) return out;
  out.answer = Precedence::Answer::Open;
  if (!*both) return out;
  const Excerpter excerpter(history, options.evidence);
  const Excerpt asked = by_commit_order(out.level) ? excerpter.whole_ordered(second, first)
                                                   : excerpter.whole_with(second, first);
  const auto verdict = check_within(budget, asked.history, out.level, check_options);
  if (!verdict.ok()) return verdict.error();
  if (verdict->outcome == Outcome::Undecided) out.answer = Precedence::Answer::Undecided;
  if (verdict->outcome == Outcome::Holds) out.order = order_of(*verdict, asked);
  if (verdict->outcome != Outcome::Violated) return out;
  out.answer = Precedence::Answer::Required;
  ExplainOptions how = options;
  how.time_limit = budget.time_left();
  Explanation explanation = explain(asked.history, *verdict, how);
  if (explanation.stories.empty()) return out;
  out.story = std::move(explanation.stories.front());
  Added(asked, first, second).remove_from(out.story);
  lift(out.story, asked);
  return out;
}

}  // namespace

Result<Precedence> precedence(const History& history, TxnId first, TxnId second, Level level,
                              const ExplainOptions& options) {
  if (options.evidence == Evidence::Timestamps) {
    Error error;
    error.what = "by timestamps the order is given; compare start_ts and commit_ts";
    return error;
  }
  CheckOptions check_options;
  check_options.evidence = options.evidence;
  check_options.threads = options.threads;
  check_options.cancelled = options.cancelled;
  check_options.clock_drift = options.clock_drift;
  check_options.time_limit = options.time_limit;
  check_options.memory_limit = options.memory_limit;
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit);
  const auto as_is = check_within(budget, history, level, check_options);
  if (!as_is.ok()) return as_is.error();
  Precedence out;
  out.level = level;
  if (as_is->outcome == Outcome::Undecided) return out;
  if (as_is->outcome == Outcome::Violated) {
    const auto kept = strongest_kept(budget, history, level, check_options);
    if (!kept) {
      out.answer =
          budget.exhausted() ? Precedence::Answer::Undecided : Precedence::Answer::Violated;
      ExplainOptions how = options;
      how.time_limit = budget.time_left();
      Explanation explanation = explain(history, *as_is, how);
      if (!explanation.stories.empty()) out.story = std::move(explanation.stories.front());
      return out;
    }
    out.level = *kept;
  }
  return ask(budget, history, first, second, options, check_options, std::move(out));
}

}  // namespace ouro
