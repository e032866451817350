// precedence(): whether `first` must precede `second`. Something is added to the history that
// implies the opposite. If the level forbids the result, `first` must precede `second`, and the
// cycle without the edge that was added is the reason.
//
// At levels that forbid lost updates, a key is added of which `second` reads the initial value and
// which `first` writes, so that `second` did not see `first`. At the others, who saw whom says
// little about the commit order; there a transaction is added that saw `second` commit before
// `first`.

#include <algorithm>

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
  if (as_is->outcome != Outcome::Holds) {
    out.answer = as_is->outcome == Outcome::Violated ? Precedence::Answer::Violated
                                                     : Precedence::Answer::Undecided;
    return out;
  }
  const auto both = both_count(budget, history, first, second, check_options);
  if (!both.ok()) return both.error();
  if (budget.exhausted()) return out;
  out.answer = Precedence::Answer::Open;
  if (!*both) return out;
  const Excerpter excerpter(history, options.evidence);
  const Excerpt asked = by_commit_order(level) ? excerpter.whole_ordered(second, first)
                                               : excerpter.whole_with(second, first);
  const auto verdict = check_within(budget, asked.history, level, check_options);
  if (!verdict.ok()) return verdict.error();
  if (verdict->outcome == Outcome::Undecided) out.answer = Precedence::Answer::Undecided;
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

}  // namespace ouro
