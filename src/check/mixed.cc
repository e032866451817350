#include "check/mixed.h"

#include <algorithm>
#include <bitset>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "check/implied.h"
#include "check/mixed_knowledge.h"
#include "check/mixed_parallel.h"
#include "check/observed/mixture.h"
#include "check/observed/violated.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"

namespace ouro {
namespace {

// Whether some transaction that may take part states each level.
std::bitset<kLevelCount> stated_levels(const History& h) {
  std::bitset<kLevelCount> out;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(TxnId{t}) == TxnStatus::Aborted) continue;
    out.set(static_cast<std::size_t>(level_of(h, Level::Mixed, TxnId{t})));
  }
  return out;
}

// Makes a verdict of the mixture of one on a single level, which is that of all transactions or
// implies it.
Verdict as_mixed(Verdict verdict) {
  verdict.level = Level::Mixed;
  if (verdict.outcome != Outcome::Holds || !verdict.schedule.empty()) return verdict;
  for (const TxnId txn : verdict.order) {
    verdict.schedule.push_back({txn, false});
    verdict.schedule.push_back({txn, true});
  }
  return verdict;
}

// Adds edges to those that a mixture has. Of several between the same transactions one stays.
void add_forced(Mixture& mixture, std::span<const Edge> more) {
  const auto place = [](const Edge& edge) { return std::tie(edge.from, edge.to); };
  mixture.forced.insert(mixture.forced.end(), more.begin(), more.end());
  std::stable_sort(mixture.forced.begin(), mixture.forced.end(),
                   [&](const Edge& a, const Edge& b) { return place(a) < place(b); });
  const auto end = std::unique(mixture.forced.begin(), mixture.forced.end(),
                               [&](const Edge& a, const Edge& b) { return place(a) == place(b); });
  mixture.forced.erase(end, mixture.forced.end());
}

// Decides for the levels of `mixture`, none of which is parallel-si, and adds to it what they
// force.
Verdict decide_mixture(const Observed& observed, Mixture& mixture, MixedKnowledge& knowledge,
                       const Budget& budget, const CheckOptions& options) {
  for (;;) {
    Verdict verdict = check_mixture(observed, mixture, budget, options);
    if (budget.exhausted()) return Verdict{.level = Level::Mixed};
    if (verdict.outcome != Outcome::Holds) return verdict;
    const auto more = knowledge.backward(positions_of(observed.history(), verdict).commit);
    if (budget.exhausted()) return Verdict{.level = Level::Mixed};
    if (more.empty()) return verdict;
    const auto impossible = std::find_if(more.begin(), more.end(),
                                         [](const Edge& edge) { return edge.to == kInitialTxn; });
    if (impossible != more.end()) {
      Edge first{.from = kInitialTxn,
                 .to = impossible->from,
                 .kind = EdgeKind::WriteWrite,
                 .key = impossible->key};
      first.to_op = impossible->from_op;
      verdict = Verdict{.level = Level::Mixed};
      add_cycle(verdict, AnomalyKind::ForbiddenCycle, {first, *impossible});
      return verdict;
    }
    add_forced(mixture, more);
  }
}

// The levels that transactions state, and what becomes of them with `parallel` in place of those of
// LevelFamily::Parallel.
struct Stated {
  std::vector<Level> levels;
  bool parallel = false;  // Whether one of those is among them.

  explicit Stated(const History& h) {
    for (std::size_t t = 0; t < h.txn_count(); ++t) {
      levels.push_back(level_of(h, Level::Mixed, TxnId{t}));
      parallel |= rules(levels.back()).is(LevelFamily::Parallel) &&
                  h.status(TxnId{t}) != TxnStatus::Aborted;
    }
  }
  [[nodiscard]] Mixture with(Level parallel_as) const {
    Mixture out;
    for (const Level level : levels) {
      out.levels.push_back(rules(level).is(LevelFamily::Parallel) ? parallel_as : level);
    }
    return out;
  }
};

// Decides with causal in place of parallel-si, which takes an order to say what its readers knew
// of.
Verdict decide_with_parallel(const Observed& observed, const Stated& stated, const Budget& budget,
                             const CheckOptions& options) {
  Mixture mixture = stated.with(Level::Causal);
  MixedKnowledge knowledge(observed, mixture, stated.levels, budget);
  const auto decide = [&](std::span<const Edge> assumed) {
    if (assumed.empty()) return decide_mixture(observed, mixture, knowledge, budget, options);
    const std::vector<Edge> known = mixture.forced;
    add_forced(mixture, assumed);
    Verdict verdict = decide_mixture(observed, mixture, knowledge, budget, options);
    mixture.forced = known;
    return verdict;
  };
  return decide_parallel(observed, knowledge, decide, budget);
}

// Whether levels ask for what clients recorded of begins and commits, which is not judged here.
bool asks_for_inner_clocks(const History& h) {
  if (!h.has_inner_clocks()) return false;
  const auto stated = stated_levels(h);
  return std::any_of(levels().begin(), levels().end(), [&](const LevelInfo& level) {
    return stated[static_cast<std::size_t>(level.level)] && rules(level.level).begins_apart() &&
           rules(level.level).clocks();
  });
}

}  // namespace

std::optional<Verdict> decide_alike(const History& history,
                                    const std::function<Verdict(Level)>& decide) {
  const auto stated = stated_levels(history);
  for (const LevelInfo& level : levels()) {
    const bool only = stated.count() == 1 && stated[static_cast<std::size_t>(level.level)];
    if (only) return as_mixed(decide(level.level));
  }
  for (const LevelInfo& level : levels()) {
    const bool above = std::all_of(levels().begin(), levels().end(), [&](const LevelInfo& other) {
      return !stated[static_cast<std::size_t>(other.level)] ||
             implied_in(history, level.level, other.level, Evidence::Observed);
    });
    if (!above) continue;
    Verdict verdict = decide(level.level);
    if (verdict.outcome != Outcome::Holds) return std::nullopt;
    return as_mixed(std::move(verdict));
  }
  return std::nullopt;
}

Verdict check_mixed(const Observed& observed, const Budget& budget, const CheckOptions& options) {
  const History& h = observed.history();
  const Stated stated(h);
  Mixture mixture = stated.with(Level::SessionSi);
  MixedKnowledge knowledge(observed, mixture, stated.levels, budget);
  Verdict verdict = decide_mixture(observed, mixture, knowledge, budget, options);
  if (stated.parallel && verdict.outcome == Outcome::Violated) {
    verdict = decide_with_parallel(observed, stated, budget, options);
  }
  if (verdict.outcome == Outcome::Holds && asks_for_inner_clocks(h)) {
    verdict = Verdict{.level = Level::Mixed};
    verdict.reason =
        "when begins were answered and commits asked for is not judged at mixed levels";
  }
  return verdict;
}

}  // namespace ouro
