// Asks whether the history could do without `first` preceding `second`: a key is added of which
// `second` reads the initial value and which `first` writes, so that `second` did not see `first`.
// If the level forbids that, the cycle without this edge is the reason.

#include <algorithm>

#include "explain/excerpt.h"
#include "explain/lift.h"
#include "ouro/explain.h"

namespace ouro {
namespace {

// The edge that the question added.
bool is_question(const Edge& edge) { return edge.kind == EdgeKind::ReadWrite && !edge.key.valid(); }

// Cuts the cycle open where the question closed it.
void cut_open(std::vector<Edge>& cycle) {
  const auto at = std::find_if(cycle.begin(), cycle.end(), is_question);
  if (at == cycle.end()) return;
  std::rotate(cycle.begin(), at, cycle.end());
  cycle.erase(cycle.begin());
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
  const auto as_is = check(history, level, check_options);
  if (!as_is.ok()) return as_is.error();
  Precedence out;
  if (as_is->outcome != Outcome::Holds) {
    out.answer = as_is->outcome == Outcome::Violated ? Precedence::Answer::Violated
                                                     : Precedence::Answer::Undecided;
    return out;
  }
  const Excerpt asked = Excerpter(history, options.evidence).whole_with(second, first);
  const auto verdict = check(asked.history, level, check_options);
  if (!verdict.ok()) return verdict.error();
  if (verdict->outcome == Outcome::Undecided) return out;
  out.answer = Precedence::Answer::Open;
  if (verdict->outcome == Outcome::Holds) return out;
  out.answer = Precedence::Answer::Required;
  Explanation explanation = explain(asked.history, *verdict, options);
  if (explanation.stories.empty()) return out;
  out.story = std::move(explanation.stories.front());
  lift(out.story, asked);
  std::erase_if(out.story.ops, [](OpId op) { return !op.valid(); });
  for (Case& each : out.story.cases) cut_open(each.cycle);
  return out;
}

}  // namespace ouro
