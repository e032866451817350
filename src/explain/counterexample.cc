// counterexample(): the history of a story's transactions and operations. A story by timestamps
// also has the writer of what should have been read, without whom the level may be violated, too.
// So such a history is shrunk once more, as long as the level is violated in any way.
#include "check/check_within.h"
#include "explain/shrink.h"
#include "ouro/explain.h"

namespace ouro {

History counterexample(const History& history, const Story& story, const ExplainOptions& options) {
  History part = excerpt(history, story.txns, story.ops, story.evidence);
  if (story.evidence != Evidence::Timestamps) return part;
  CheckOptions check_options;
  check_options.evidence = story.evidence;
  check_options.clock_drift = options.clock_drift;
  check_options.cancelled = options.cancelled;
  check_options.threads = 1;
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit,
                      options.work_limit);
  const auto is_violated = [&](const History& rest) {
    const Budget left(budget, 1);
    const auto verdict = check_within(left, rest, story.level, check_options);
    return verdict.ok() && verdict->outcome == Outcome::Violated;
  };
  if (!is_violated(part)) return part;
  return shrink(part, story.evidence, is_violated, budget).part.history;
}

}  // namespace ouro
