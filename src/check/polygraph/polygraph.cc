#include "check/polygraph/polygraph.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/internal_error.h"
#include "base/level_rules.h"
#include "base/meter.h"
#include "check/observed/violated.h"
#include "check/polygraph/encoding.h"
#include "check/polygraph/explainer.h"
#include "check/polygraph/first_guess.h"
#include "check/polygraph/parallel_si.h"
#include "check/polygraph/search.h"
#include "check/polygraph/session_arcs.h"
#include "check/polygraph/tangle.h"
#include "check/versions/read_parts.h"
#include "check/versions/worst_cycle.h"
#include "graph/digraph.h"

namespace ouro {
namespace {

// Adds the certificate of a level that holds: the transactions, or their begins and commits, in the
// order of the nodes.
void add_certificate(Verdict& verdict, const Encoding& encoding, const DynamicOrder& order,
                     const Budget& budget) {
  std::vector<Node> nodes(order.node_count());
  for_each_within(budget, 0, nodes.size(), [&](std::size_t node) {
    nodes[order.position(static_cast<Node>(node))] = static_cast<Node>(node);
  });
  for_each_within(budget, 0, nodes.size(), [&](std::size_t at) {
    const TxnId txn = encoding.txn(nodes[at]);
    if (txn == kInitialTxn || !encoding.observed().counted(txn)) return;
    const bool commits = encoding.is_commit(nodes[at]);
    if (encoding.mixture() != nullptr && encoding.is_single(txn)) {
      if (!commits) return;  // No node of it.
      verdict.schedule.push_back({txn, false});
    }
    if (encoding.split()) verdict.schedule.push_back({txn, commits});
    if (commits) verdict.order.push_back(txn);
  });
}

// If the evidence is version orders: a shortest cycle of the worst kind (worst_cycle.h) among the
// transactions of a component. Empty by other evidence, or if none was found.
std::vector<Edge> worst_edges(const Encoding& encoding, Level level, const CheckOptions& options,
                              std::span<const Node> component, const Budget& budget) {
  if (options.evidence != Evidence::Versions) return {};
  std::vector<TxnId> txns;
  for (const Node node : component) {
    const TxnId txn = encoding.txn(node);
    if (txn != kInitialTxn && (txns.empty() || txns.back() != txn)) txns.push_back(txn);
  }
  return worst_cycle(encoding.observed(), level, options.clock_drift, txns, budget);
}

// Adds one short cycle of each component of the known arcs, which are cyclic without any choice.
// Adds none if the budget does not last for one.
void add_known_cycles(Verdict& verdict, const Encoding& encoding, const Digraph& known,
                      const CheckOptions& options, const Budget& budget) {
  const StageTimer timer(budget, Stage::Prove);
  const Explainer explainer(encoding);
  for (const auto& component : cyclic_components(known, budget)) {
    if (verdict.anomalies.size() >= options.examples) {
      ++verdict.counts[static_cast<std::size_t>(AnomalyKind::ForbiddenCycle)];
      continue;
    }
    auto worst = worst_edges(encoding, verdict.level, options, component, budget);
    if (!worst.empty()) {
      add_cycle(verdict, AnomalyKind::ForbiddenCycle, std::move(worst));
      continue;
    }
    const std::vector<Node> cycle = short_cycle(known, component, budget);
    if (cycle.empty()) return;
    std::vector<DynamicOrder::Step> steps;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      steps.push_back({{cycle[i], cycle[(i + 1) % cycle.size()]}, DynamicOrder::kNoLabel});
    }
    add_cycle(verdict, AnomalyKind::ForbiddenCycle, explainer.edges(steps));
  }
}

// Adds a refutation. A proof without choices is a single cycle; otherwise the first of its cycles
// is shown as an example, if it has any.
void add_refutation(Verdict& verdict, const Explainer& explainer, std::span<const Lemma> proof) {
  Refutation refutation = explainer.refutation(proof);
  const auto first = std::find_if(refutation.steps.begin(), refutation.steps.end(),
                                  [](const RefutationStep& step) { return !step.cycle.empty(); });
  if (refutation.choices.empty()) {
    add_cycle(verdict, AnomalyKind::ForbiddenCycle, first->cycle);
    return;
  }
  add_cycle(verdict, AnomalyKind::ContradictoryOrder,
            first == refutation.steps.end() ? std::vector<Edge>() : first->cycle);
  verdict.refutation = std::move(refutation);
}

// What is asked.
struct Task {
  const Observed& observed;
  Level level;
  const CheckOptions& options;
  SearchFor open;
  const Mixture* mixture = nullptr;

  [[nodiscard]] Encoding encoded(
      const Budget& budget, Encoding::Overwrites overwrites = Encoding::Overwrites::AsLevel) const {
    const StageTimer timer(budget, Stage::Encode);
    return Encoding(observed, level, options.clock_drift, options.search.chains, options.threads,
                    budget, open, overwrites, mixture);
  }
};

Digraph known_arcs(const Encoding& encoding, const CheckOptions& options, const Budget& budget) {
  const StageTimer timer(budget, Stage::Encode);
  return {encoding.node_count(), encoding.arcs(), options.threads, budget};
}

// The search on demand, and all that it works on.
struct OnDemand {
  OnDemand(const Encoding& encoding, Start start, const CheckOptions& options, const Budget& budget)
      : order(std::move(start.known), std::move(start.back), start.order, budget, options.threads),
        search(encoding, order, options.search, options.threads, budget),
        solver(order, budget),
        parallel(encoding, order, search, budget),
        guide(encoding.overwrites() ? static_cast<Guide&>(search) : parallel) {
    budget.charge(order.node_count() + encoding.chain_count());
  }

  DynamicOrder order;
  Search search;
  Solver solver;
  ParallelSi parallel;
  Guide& guide;
};

// The verdict of a search on demand that ended.
Verdict verdict_of(Solution solution, const OnDemand& on_demand, const Encoding& encoding,
                   Level level, const Budget& budget) {
  const StageTimer timer(budget, Stage::Prove);
  Verdict verdict{.level = level};
  const SourceChoices* sources = on_demand.search.sources();
  if (solution == Solution::Found) {
    add_certificate(verdict, encoding, on_demand.order, budget);
    if (sources != nullptr) verdict.sources = sources->sources();
    if (budget.exhausted()) return Verdict{.level = level};
    verdict.outcome = Outcome::Holds;
  } else if (solution == Solution::None) {
    const ResultChoices* results = on_demand.search.results();
    if (results != nullptr && results->impossible().valid()) {
      return impossible_read(encoding.observed(), level, results->impossible());
    }
    const Search& search = on_demand.search;
    add_refutation(verdict, Explainer(encoding, search.pairs(), search.seen()),
                   on_demand.solver.proof());
  }
  return verdict;
}

// The verdict of a full search that ended. The order that it found is not just believed: the search
// on demand, which begins with it, must have nothing to mend.
Verdict verdict_of(Solution solution, Tangle& tangle, const Encoding& encoding, const Task& task,
                   const Budget& budget) {
  const StageTimer timer(budget, Stage::Prove);
  if (solution == Solution::None) {
    Verdict verdict{.level = task.level};
    add_refutation(verdict, Explainer(encoding, tangle.pairs()), tangle.proof());
    return verdict;
  }
  CheckOptions options = task.options;
  options.search = {.saturation = false, .full = false};
  OnDemand on_demand(encoding, {tangle.known(), {}, tangle.order()}, options, budget);
  const Solution same = on_demand.solver.solve(on_demand.guide);
  insist(same == Solution::Stopped ||
             (same == Solution::Found && on_demand.solver.choice_count() == 0),
         "the order that the search found is wrong");
  return verdict_of(same, on_demand, encoding, task.level, budget);
}

// The work that the full search may do after `spent` was done on demand.
Steps full_turn(std::uint64_t spent) {
  constexpr std::uint64_t kShare = 5;
  constexpr std::uint64_t kLeast = 1'000'000;  // About ten milliseconds.
  return {std::max(kLeast, kShare * spent)};
}

// The full search, once it was begun.
struct Full {
  std::optional<Encoding> with_overwrites;  // What it is about at psi.
  std::optional<Tangle> tangle;
};

// Runs the search on demand, and after some setbacks in turns with the full search, which has more
// of the work. Its choices are made only when as much was spent on demand.
Verdict search_in_turns(const Encoding& encoding, OnDemand& on_demand, Full& full, const Task& task,
                        const Budget& budget) {
  constexpr std::uint64_t kFirstSetbacks = 300;
  const SearchOptions& options = task.options.search;
  std::optional<Steps> cost;  // Of a tangle, if there may be one.
  const bool plain = encoding.members().empty() && task.mixture == nullptr;
  if (options.full && options.on_demand && plain) {
    cost = Tangle::cost(encoding);
  }
  if (cost && options.many == 0) cost = Steps{0};
  std::uint64_t setbacks = cost ? std::min(kFirstSetbacks, options.many) : Solver::kNoPause;
  auto& [with_overwrites, tangle] = full;
  for (;; setbacks += std::max(setbacks, kFirstSetbacks)) {
    const std::uint64_t before = budget.spent();
    const Solution solution = on_demand.solver.solve(on_demand.guide, setbacks);
    if (solution != Solution::Paused) {
      return verdict_of(solution, on_demand, encoding, task.level, budget);
    }
    if (budget.spent() < cost->count) continue;
    const Budget turn(budget, full_turn(budget.spent() - before));
    if (!tangle) {
      const bool parallel = !encoding.overwrites();
      if (parallel) with_overwrites.emplace(task.encoded(budget, Encoding::Overwrites::AreArcs));
      if (budget.exhausted()) return {.level = task.level};
      tangle.emplace(parallel ? *with_overwrites : encoding, on_demand.order, parallel);
    }
    if (!tangle->usable()) continue;
    const Solution found = tangle->run(turn);
    if (budget.exhausted()) return {.level = task.level};
    if (found != Solution::Stopped) {
      return verdict_of(found, *tangle, encoding, task, budget);
    }
  }
}

// What a search did, in a graph that began with `arcs`.
SearchCounts counts_of(const Encoding& encoding, std::size_t arcs, const OnDemand& on_demand,
                       const Full& full) {
  SearchCounts counts{.searches = 1,
                      .nodes = encoding.node_count(),
                      .arcs = arcs,
                      .chains = encoding.chain_count(),
                      .choices = on_demand.solver.choice_count(),
                      .decisions = on_demand.solver.decision_count(),
                      .conflicts = on_demand.solver.conflict_count()};
  const auto first = encoding.chain_first();
  for (std::size_t key = 0; key + 1 < first.size(); ++key) {
    const std::uint64_t heads = first[key + 1] - first[key] - 1;  // The initial chain is first.
    counts.pairs += heads * (heads - 1) / 2;
  }
  if (full.tangle) counts.choices += full.tangle->pairs().size();
  if (full.tangle) counts.full_conflicts = full.tangle->conflict_count();
  return counts;
}

// Searches for an order that keeps a side of every choice. REQUIRES: `start` is not cyclic.
Verdict search_order(const Encoding& encoding, Start start, const Task& task, const Budget& whole) {
  const Budget budget(whole, 1);  // So that its work is counted alone.
  StageTimer timer(budget, Stage::Order);
  const std::size_t arcs = start.known.arc_count();
  OnDemand on_demand(encoding, std::move(start), task.options, budget);
  if (budget.exhausted()) return {.level = task.level};
  timer.turn_to(Stage::Search);
  Full full;
  Verdict verdict = search_in_turns(encoding, on_demand, full, task, budget);
  if (Meter* meter = budget.meter()) meter->add(counts_of(encoding, arcs, on_demand, full));
  return verdict;
}

// Decides by the arcs that `encoding` has.
Verdict decide_encoded(Encoding& encoding, const Task& task, const Budget& budget) {
  Verdict verdict{.level = task.level};
  if (encoding.stopped()) return verdict;
  Digraph known = known_arcs(encoding, task.options, budget);
  encoding.release_arcs();
  Start start = begin_with(std::move(known), encoding, task.options, budget);
  if (budget.exhausted()) return verdict;
  if (start.cyclic()) {
    add_known_cycles(verdict, encoding, start.known, task.options, budget);
    return verdict;
  }
  return search_order(encoding, std::move(start), task, budget);
}

bool uses_sessions(const Verdict& verdict) {
  const auto by_session = [](const Edge& edge) { return edge.kind == EdgeKind::Session; };
  const auto any = [&](std::span<const Edge> edges) {
    return std::any_of(edges.begin(), edges.end(), by_session);
  };
  return std::any_of(verdict.anomalies.begin(), verdict.anomalies.end(),
                     [&](const Anomaly& anomaly) { return any(anomaly.edges); }) ||
         std::any_of(verdict.refutation.steps.begin(), verdict.refutation.steps.end(),
                     [&](const RefutationStep& step) { return any(step.cycle); });
}

// What follows from a search with assumptions. If there is no order that keeps them, that proves
// nothing, unless the proof does without sessions.
Turn turn_of(Verdict verdict) {
  if (verdict.outcome == Outcome::Undecided) return {};
  if (verdict.outcome == Outcome::Holds || !uses_sessions(verdict)) return {std::move(verdict)};
  return {std::nullopt, true};
}

// Searches an order that keeps the sessions as far as the first guess does: of the arcs of session
// order only those that run forward in the guess are assumed.
Turn decide_with_some_sessions(Encoding& encoding, const Task& task, const Budget& budget,
                               const Budget& part) {
  Start start =
      begin_with(known_arcs(encoding, task.options, budget), encoding, task.options, budget);
  if (budget.exhausted()) return {};
  if (start.cyclic()) {
    Verdict verdict{.level = task.level};
    add_known_cycles(verdict, encoding, start.known, task.options, budget);
    return {std::move(verdict)};
  }
  std::vector<std::uint32_t> position(start.order.size());
  for (std::size_t at = 0; at < start.order.size(); ++at) {
    position[start.order[at]] = static_cast<std::uint32_t>(at);
  }
  std::vector<Arc> forward = session_arcs(encoding, KeptBySessions::Commits);
  std::erase_if(forward, [&](Arc arc) { return position[arc.from] > position[arc.to]; });
  encoding.assume_sessions(forward);
  start.known = known_arcs(encoding, task.options, budget);
  start.back.reset();
  encoding.release_arcs();
  if (budget.exhausted()) return {};
  return turn_of(search_order(encoding, std::move(start), task, part));
}

// Searches an order that keeps all sessions; or, if the known arcs contradict that, which it finds
// out and remembers in `contradicted`, as many as decide_with_some_sessions() keeps.
Turn decide_with_sessions(const Task& task, bool& contradicted, const Budget& budget,
                          const Budget& part) {
  Encoding encoding = task.encoded(budget);
  if (encoding.stopped()) return {};
  if (contradicted) return decide_with_some_sessions(encoding, task, budget, part);
  const std::vector<Arc> sessions = session_arcs(encoding, KeptBySessions::Everything);
  encoding.assume_sessions(sessions);
  if (sessions.empty()) return {decide_encoded(encoding, task, budget)};  // As with sessions.
  Start start =
      begin_with(known_arcs(encoding, task.options, budget), encoding, task.options, budget);
  if (budget.exhausted()) return {};
  if (start.cyclic()) {
    contradicted = true;
    start.known = Digraph(0, {});
    encoding.drop_assumed();
    return decide_with_some_sessions(encoding, task, budget, part);
  }
  encoding.release_arcs();
  return turn_of(search_order(encoding, std::move(start), task, part));
}

}  // namespace

Verdict check_mixture(const Observed& observed, const Mixture& mixture, const Budget& budget,
                      const CheckOptions& options) {
  const Task task{observed, Level::Mixed, options, {}, &mixture};
  Encoding encoding = task.encoded(budget);
  return decide_encoded(encoding, task, budget);
}

Steps first_turn(const Observed& observed, const SearchOptions& options) {
  if (options.first_turn != 0) return {options.first_turn};
  constexpr std::uint64_t kLeast = 10'000'000;  // About a tenth of a second.
  constexpr std::uint64_t kPerItem = 200;       // Where much is to be ordered, about 100 are taken.
  constexpr std::uint64_t kOfOpenReads = 1000;
  const std::uint64_t each = observed.searched_reads().empty() ? kPerItem : kOfOpenReads;
  return {kLeast + each * observed.items().size()};
}

Verdict check_polygraph(const Observed& observed, Level level, const Budget& budget,
                        const CheckOptions& options, SearchFor open) {
  const Task task{observed, level, options, open};
  const auto alone = [&](const Budget& part) {
    Encoding encoding = task.encoded(part);
    return decide_encoded(encoding, task, part);
  };
  if (rules(level).sessions || !options.search.turns) return alone(budget);
  bool contradicted = false;
  const auto with_sessions = [&](const Budget& part) {
    return decide_with_sessions(task, contradicted, budget, part);
  };
  const auto with_some = [&](const Budget& turn) -> Turn {
    if (contradicted) return {std::nullopt, true};  // That is what with_sessions() does.
    constexpr unsigned kShare = 4;  // Where all sessions are too many, some often are, too.
    const Budget part(turn, kShare);
    Encoding encoding = task.encoded(budget);
    if (encoding.stopped()) return {};
    return decide_with_some_sessions(encoding, task, budget, part);
  };
  const Steps steps = first_turn(observed, options.search);
  return take_turns(budget, steps, {with_sessions, with_some}, alone);
}

}  // namespace ouro
