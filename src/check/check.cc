// check(): decides levels by timestamps (check/timeline/) or by what reads returned.
//
// By reads, it may be unknown whether predicate reads without version sets saw the database at the
// start or at the commit of their transaction. The start is assumed first, and levels that are then
// violated are decided again with the commit: check_by_reads().

#include "ouro/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "base/meter.h"
#include "check/both_moments.h"
#include "check/check_within.h"
#include "check/implied.h"
#include "check/left_out.h"
#include "check/observed/observed.h"
#include "check/one_level.h"
#include "check/several_levels.h"
#include "check/timeline/check_timeline.h"
#include "check/versions/predicate_reads.h"
#include "history/access.h"
#include "history/real_time.h"
#include "history/session_order.h"

namespace ouro {
namespace {

// Marks the levels as violated that imply one of `verdicts` which is; without a proof.
void add_implied(const History& history, std::span<const Level> levels,
                 std::vector<std::optional<Verdict>>& verdicts) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool follows =
        std::any_of(verdicts.begin(), verdicts.end(), [&](const std::optional<Verdict>& other) {
          return other && other->outcome == Outcome::Violated &&
                 implied_in(history, levels[i], other->level, Evidence::Timestamps);
        });
    if (!verdicts[i] && follows) {
      verdicts[i] = Verdict{
          .level = levels[i], .evidence = Evidence::Timestamps, .outcome = Outcome::Violated};
    }
  }
}

// Decides each level on its own: timeline checks share no work. If only outcomes are wanted, the
// weakest come first, and what they imply is not decided again. Levels that are left when the
// budget is exhausted are undecided.
Result<std::vector<Verdict>> check_by_timestamps(const History& history,
                                                 std::span<const Level> levels,
                                                 const Budget& budget,
                                                 const CheckOptions& options) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.outcomes_only) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return InListOrder()(levels[a], levels[b]);
    });
  }
  std::vector<std::optional<Verdict>> verdicts(levels.size());
  bool first = true;
  for (const std::size_t i : order) {
    if (verdicts[i]) continue;
    if (!std::exchange(first, false) && budget.exhausted()) {
      verdicts[i] = Verdict{
          .level = levels[i], .evidence = options.evidence, .reason = stop_reason(budget, options)};
      continue;
    }
    auto verdict = check_timeline(history, levels[i], budget, options);
    if (!verdict.ok()) return std::move(verdict).error();
    if (verdict->outcome == Outcome::Undecided) verdict->reason = stop_reason(budget, options);
    verdicts[i] = *std::move(verdict);
    if (options.outcomes_only) add_implied(history, levels, verdicts);
  }
  std::vector<Verdict> out;
  for (std::optional<Verdict>& verdict : verdicts) out.push_back(*std::move(verdict));
  return out;
}

// The verdicts if predicate reads without version sets saw the database at one given moment.
struct Judgement {
  std::vector<Verdict> verdicts;
  bool has_snapshots = false;  // Whether any read depends on the moment.
  bool fits = false;           // Whether the moment gives what these reads returned.
  bool stopped = false;        // The budget was exhausted; the two above are unknown.
};

std::vector<Level> violated_of(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Violated) out.push_back(verdict.level);
  }
  return out;
}

// Decides `levels` with predicate reads at the moment `at`.
Result<Judgement> judge(const History& history, std::span<const Level> levels, SnapshotAt at,
                        const Budget& budget, const CheckOptions& options) {
  StageTimer timer(budget, Stage::Join);
  const bool listed = options.scans_list_tombstones || scans_list_tombstones(history);
  RowChoice rows;
  if (options.evidence == Evidence::Observed) rows = first_rows(history, options.threads, budget);
  auto observed = Observed::observe(history, budget, options.threads, options.evidence,
                                    listed ? Tombstones::Listed : Tombstones::Unlisted, {}, {},
                                    std::move(rows));
  if (!observed.ok()) return std::move(observed).error();
  auto predicates = read_predicates(*observed, at, budget, options);
  if (!predicates.ok()) return std::move(predicates).error();
  Judgement out;
  out.verdicts = decide_levels(*observed, *predicates, levels, budget, options);
  for (Verdict& verdict : out.verdicts) {
    if (predicates->unclear_count() == 0 || verdict.outcome != Outcome::Holds) continue;
    if (!rules(verdict.level).is(LevelFamily::CommitOrder)) continue;
    verdict.left_out = {{.kind = LeftOutKind::Omissions, .count = predicates->unclear_count()}};
  }
  out.stopped = observed->stopped() || predicates->stopped();
  if (out.stopped) return out;
  out.has_snapshots = predicates->has_snapshots();
  out.fits = predicates->snapshots_fit();
  return out;
}

// Timestamps do not say whether predicate reads saw what was committed when their transaction
// started or when it committed; what they returned may rule out one of the two. A level holds if it
// does at a moment that is not ruled out.
Result<std::vector<Verdict>> check_by_reads(const History& history, std::span<const Level> levels,
                                            const Budget& budget, const CheckOptions& options) {
  auto start = judge(history, levels, SnapshotAt::Start, budget, options);
  if (!start.ok()) return std::move(start).error();
  const std::vector<Level> violated = violated_of(start->verdicts);
  if (violated.empty() || !start->has_snapshots) return std::move(start->verdicts);
  auto commit = judge(history, violated, SnapshotAt::Commit, budget, options);
  if (!commit.ok()) return std::move(commit).error();
  const bool may_hold = commit->fits || commit->stopped;
  std::size_t next = 0;
  for (Verdict& verdict : start->verdicts) {
    if (!may_hold) break;
    if (verdict.outcome != Outcome::Violated) continue;
    Verdict& other = commit->verdicts[next++];
    if (start->fits && other.outcome == Outcome::Violated) {
      prove_both(history, verdict, std::move(other));
    } else {
      verdict = std::move(other);
    }
  }
  return std::move(start->verdicts);
}

// Whatever no order of versions allows is violated by the stated one, too. So where that leaves a
// level undecided, or leaves reads out, it is asked what they say by themselves.
void ask_observed(const History& history, std::vector<Verdict>& verdicts, const Budget& budget,
                  const CheckOptions& options) {
  const auto is_open = [](const Verdict& verdict) {
    const auto& left = verdict.left_out;
    return verdict.outcome == Outcome::Undecided ||
           std::any_of(left.begin(), left.end(),
                       [](const LeftOut& out) { return out.kind == LeftOutKind::Omissions; });
  };
  std::vector<Level> open;
  for (const Verdict& verdict : verdicts) {
    if (is_open(verdict)) open.push_back(verdict.level);
  }
  if (open.empty() || budget.exhausted()) return;
  CheckOptions how = options;
  how.evidence = Evidence::Observed;
  auto observed = check_by_reads(history, open, budget, how);
  if (!observed.ok()) return;
  auto next = observed->begin();
  for (Verdict& verdict : verdicts) {
    if (!is_open(verdict)) continue;
    Verdict& other = *next++;
    if (other.outcome == Outcome::Violated) verdict = std::move(other);
  }
}

// Whether transactions begin and commit at one moment when the level is decided by timestamps.
bool at_one_moment(Level level) {
  return rules(level).by_timestamps && !rules(level).begins_apart();
}

}  // namespace

// By timestamps, serial levels judge reads at the commit of their transaction, levels of snapshots
// at its start. So none of the former implies any of the latter.
bool implies(Level stronger, Level weaker, Evidence evidence) {
  const bool comparable =
      evidence != Evidence::Timestamps || at_one_moment(stronger) == at_one_moment(weaker);
  return comparable && implies(stronger, weaker);
}

bool decidable(Level level, Evidence evidence) {
  switch (evidence) {
    case Evidence::Observed:
      return true;
    case Evidence::Timestamps:
      return rules(level).by_timestamps;
    case Evidence::Versions:
      return rules(level).by_versions;
  }
  return false;
}

Result<std::vector<Verdict>> check_within(const Budget& budget, const History& history,
                                          std::span<const Level> levels,
                                          const CheckOptions& options) {
  for (const Level level : levels) {
    if (!decidable(level, options.evidence)) {
      Error error;
      error.what = fmt::format("level '{}' cannot be decided by evidence '{}'; it needs '{}'",
                               info(level).name, name(options.evidence), name(Evidence::Observed));
      if (level == Level::Mixed) {
        error.what += ", or name one level for all transactions instead of those that they state";
      }
      return error;
    }
  }
  if (auto status = check_clock_drift(options.clock_drift); !status.ok()) return status.error();
  if (options.evidence != Evidence::Timestamps) {
    if (auto status = refuse_other_order(history); !status.ok()) return status.error();
  }
  auto verdicts = options.evidence == Evidence::Timestamps
                      ? check_by_timestamps(history, levels, budget, options)
                      : check_by_reads(history, levels, budget, options);
  if (!verdicts.ok()) return verdicts;
  Coverage coverage;
  coverage.add(history);
  for (Verdict& verdict : *verdicts) {
    if (verdict.outcome != Outcome::Holds) continue;
    const std::uint64_t unclear = verdict.left_out.empty() ? 0 : verdict.left_out[0].count;
    verdict.left_out = coverage.left_out(verdict.level, options.evidence, unclear);
  }
  if (options.evidence == Evidence::Versions) {
    ask_observed(history, *verdicts, budget, options);
  }
  return verdicts;
}

Result<Verdict> check_within(const Budget& budget, const History& history, Level level,
                             const CheckOptions& options) {
  auto verdicts = check_within(budget, history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

Result<std::vector<Verdict>> check(const History& history, std::span<const Level> levels,
                                   const CheckOptions& options) {
  if (auto status = refuse_empty(history); !status) return std::move(status).error();
  Meter meter;
  Budget budget(options.time_limit, options.cancelled, options.memory_limit, options.work_limit);
  if (options.effort != nullptr) budget.measure_with(&meter);
  auto verdicts = check_within(budget, history, levels, options);
  if (options.effort != nullptr) options.effort->add(meter.effort());
  return verdicts;
}

Result<Verdict> check(const History& history, Level level, const CheckOptions& options) {
  auto verdicts = check(history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

}  // namespace ouro
