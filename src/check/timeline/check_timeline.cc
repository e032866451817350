#include "check/timeline/check_timeline.h"

#include <utility>

#include "base/meter.h"
#include "check/timeline/examples.h"
#include "check/timeline/precedence.h"
#include "check/timeline/predicates.h"
#include "check/timeline/replay.h"
#include "check/timeline/timeline.h"
#include "history/columns.h"

namespace ouro {
namespace {

// Adds the order of the timeline, which proves that the level holds.
void add_order(Verdict& verdict, const Timeline& timeline, bool snapshots) {
  verdict.order.reserve(timeline.size() / 2);
  if (snapshots) verdict.schedule.reserve(timeline.size());
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const auto [txn, commit] = timeline.step(i);
    if (snapshots) verdict.schedule.push_back({txn, commit});
    if (commit) verdict.order.push_back(txn);
  }
}

}  // namespace

Result<Verdict> check_timeline(const History& history, Level level, const Budget& budget,
                               const CheckOptions& options) {
  const HistoryColumns& c = columns_of(history);
  if (c.start_ts.empty() && c.commit_ts.empty() && history.txn_count() > 0) {
    Error error;
    error.what =
        "the history has no timestamps; use --evidence observed, or record start_ts and "
        "commit_ts of every transaction";
    return error;
  }
  if (history.txn_count() >= std::size_t{1} << 31) {
    Error error;
    error.what = "more than 2^31 transactions; split the history";
    return error;
  }
  StageTimer timer(budget, Stage::Sort);
  const auto lists = ListKeys::of(history, options.threads);
  if (!lists.ok()) return lists.error();

  Verdict verdict{.level = level, .evidence = Evidence::Timestamps};
  const LevelRules& rules = ouro::rules(level);
  Violations violations(options.examples);
  const Timeline timeline(history, rules, options.threads, violations);
  timer.turn_to(Stage::Replay);
  if (rules.sessions) check_sessions(history, timeline, violations);
  if (rules.clocks()) {
    check_real_time(history, timeline, rules, options.clock_drift, violations);
  }
  replay(history, timeline, *lists, options.threads, budget, violations);
  replay_predicates(history, timeline, *lists, options.threads, budget, violations);
  if (budget.exhausted()) return verdict;

  timer.turn_to(Stage::Prove);
  verdict.counts = violations.counts();
  verdict.outcome = violations.none() ? Outcome::Holds : Outcome::Violated;
  if (verdict.outcome == Outcome::Holds) {
    add_order(verdict, timeline, rules.begins_apart());
  } else {
    verdict.anomalies =
        anomalies_of(history, timeline, std::move(violations).first_examples(), options.examples);
  }
  return verdict;
}

}  // namespace ouro
