#include "check/one_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/level_rules.h"
#include "check/local/local.h"
#include "check/mixed.h"
#include "check/open_reads.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"
#include "check/sight_search.h"
#include "check/untold_keys.h"
#include "check/untold_reads.h"
#include "check/versions/read_parts.h"
#include "check/versions/unplaced_reads.h"
#include "check/weak/missed.h"
#include "check/weak/weak.h"
#include "history/commuting.h"

namespace ouro {
namespace {

// How the reasons begin that name a limit.
constexpr std::string_view kInterrupted = "interrupted";
constexpr std::string_view kMemoryLimit = "memory limit";
constexpr std::string_view kWorkLimit = "work limit";
constexpr std::string_view kTimeLimit = "time limit";

// Adds those of `more` that are missing to `edges`, which stay sorted by reader. Returns whether
// any were missing.
bool merge_edges(const std::vector<PredicateEdge>& more, std::vector<PredicateEdge>& edges) {
  const auto place = [](const PredicateEdge& e) {
    return std::tie(e.reader, e.write, e.overwrites, e.read);
  };
  const std::size_t known = edges.size();
  edges.insert(edges.end(), more.begin(), more.end());
  std::sort(edges.begin(), edges.end(),
            [&](const PredicateEdge& a, const PredicateEdge& b) { return place(a) < place(b); });
  const auto end = std::unique(
      edges.begin(), edges.end(),
      [&](const PredicateEdge& a, const PredicateEdge& b) { return place(a) == place(b); });
  edges.erase(end, edges.end());
  return edges.size() > known;
}

// Which level to decide, and what to search for. All other open reads are left out.
struct Question {
  Level level = Level::Serializable;
  SearchFor open = {};
};

// Decides a level by a search. Levels that may lose updates or that forbid fewer cycles have far
// more orders to try than the level that is searched first, where there is one.
Verdict decide_by_search(const Observed& observed, Question question, const Budget& budget,
                         const CheckOptions& options) {
  const Level level = question.level;
  const auto alone = [&](const Budget& part) {
    return check_polygraph(observed, level, part, options, question.open);
  };
  const bool looser = rules(level).lost_updates || rules(level).is(LevelFamily::Parallel);
  const auto first = searched_first(level);
  if (!looser || !first || !options.search.turns) return alone(budget);
  const auto stronger = [&](const Budget& part) -> Turn {
    const Verdict verdict = check_polygraph(observed, *first, part, options, question.open);
    if (verdict.outcome == Outcome::Holds) return {weakened(verdict, level)};
    return {std::nullopt, verdict.outcome == Outcome::Violated};
  };
  return take_turns(budget, first_turn(observed, options.search), {stronger}, alone);
}

// Decides a level with the predicate edges that `observed` has now.
Verdict decide(const Observed& observed, const PredicateReads& predicates, Question question,
               const Budget& budget, const CheckOptions& options) {
  const Level level = question.level;
  constexpr std::uint64_t kSteps = 1000;  // Charged for every decision, however small.
  budget.charge(kSteps);
  Verdict verdict{.level = level};
  if (observed.stopped() || predicates.stopped()) return verdict;
  std::vector<PredicateFlaw> flaws = predicates.flaws();
  if (observed.has_untold()) {
    flaws = impossible_results(observed, budget);
    if (budget.exhausted()) return verdict;
  }
  add_wrong_reads(verdict, observed, flaws, options.examples);
  if (verdict.outcome == Outcome::Violated) return verdict;
  if (rules(level).is(LevelFamily::CommitOrder)) {
    return check_weak(observed, level, budget, options);
  }
  if (rules(level).is(LevelFamily::Mixed)) return check_mixed(observed, budget, options);
  return decide_by_search(observed, question, budget, options);
}

// Makes a level that holds so far violated if its transactions knew of what their predicate reads
// missed. Returns whether that is so. `positions` are those of the verdict.
bool add_missed(Verdict& verdict, const Observed& observed, const PredicateReads& predicates,
                const Positions& positions, const Budget& budget, unsigned threads) {
  if (!rules(verdict.level).is(LevelFamily::CommitOrder)) return false;
  const auto unseen = predicates.unseen(observed, positions, budget, threads);
  auto missed = find_missed(observed, verdict.level, unseen, positions.commit, budget);
  if (!missed) return false;
  verdict = {.level = verdict.level, .outcome = Outcome::Violated};
  verdict.counts[static_cast<std::size_t>(missed->kind)] = 1;
  verdict.anomalies.push_back(*std::move(missed));
  return true;
}

// Decides a level with `given` edges, adding the edges of predicate reads that the order found so
// far breaks, until the order breaks none.
Settled settle(Observed& observed, const PredicateReads& predicates, Question question,
               const std::vector<PredicateEdge>& given, const Budget& budget,
               const CheckOptions& options) {
  const Level level = question.level;
  std::vector<PredicateEdge> edges;
  merge_edges(given, edges);
  const bool overwrites = rules(level).phantoms_count();
  for (;;) {
    observed.set_predicate_edges(edges);
    Verdict verdict = decide(observed, predicates, question, budget, options);
    if (verdict.outcome != Outcome::Holds) return {std::move(verdict), {}};
    const Positions positions = positions_of(observed.history(), verdict);
    const auto broken = predicates.broken(observed, positions, overwrites, budget);
    if (budget.exhausted()) return {Verdict{.level = level}, {}};
    if (merge_edges(broken, edges)) continue;
    add_missed(verdict, observed, predicates, positions, budget, options.threads);
    if (budget.exhausted()) return {Verdict{.level = level}, {}};
    return {std::move(verdict), std::move(edges)};
  }
}

// Says which read it was that could not be decided.
Verdict undecided_read(const Observed& observed, Level level, OpId read) {
  Verdict verdict{.level = level};
  verdict.reason = fmt::format("{}: the predicate read has no version set, and what it saw is open",
                               observed.history().place(read).to_string());
  return verdict;
}

Verdict decide_with_predicates(Observed& observed, const PredicateReads& predicates,
                               Question question, const Budget& budget,
                               const CheckOptions& options);
Verdict decide_partial(Observed& observed, const PredicateReads& predicates, Question question,
                       const Budget& budget, const CheckOptions& options);

// At parallel SI no order says what a predicate read saw. The level that is searched first takes
// few edges. If it fails, these are often enough to violate parallel SI, too. Only if they are not
// are all edges of all reads needed, which may be millions.
Verdict decide_parallel(Observed& observed, const PredicateReads& predicates, Question question,
                        const Budget& budget, const CheckOptions& options) {
  const Level level = question.level;
  if (const auto first = searched_first(level)) {
    const Verdict stronger =
        decide_with_predicates(observed, predicates, {*first}, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  } else {
    observed.set_predicate_edges({});
  }
  if (predicates.partial().valid()) {
    return decide_partial(observed, predicates, question, budget, options);
  }
  if (predicates.unplaced().empty()) {  // So no edge is a guess.
    Verdict verdict = decide(observed, predicates, question, budget, options);
    if (verdict.outcome == Outcome::Violated) return verdict;
  }
  std::vector<PredicateEdge> edges = predicates.all(observed, budget, options.threads);
  if (budget.exhausted()) return Verdict{.level = level};
  OpId open;
  if (!predicates.unplaced().empty()) {
    const auto certain =
        UnplacedReads(observed, predicates.rows(), predicates.unplaced()).certain(budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (certain.impossible.valid()) return impossible_read(observed, level, certain.impossible);
    merge_edges(certain.edges, edges);
    open = certain.open;
  }
  observed.set_predicate_edges(edges);
  Verdict verdict = decide(observed, predicates, question, budget, options);
  const bool holds = verdict.outcome == Outcome::Holds;
  return holds && open.valid() ? undecided_read(observed, level, open) : verdict;
}

// Decides a level if the version orders of some rows are not complete. What predicate reads saw is
// then known only in an order of all transactions. So the level is decided without them; and if the
// order that was found does not fit them, again with the edges that they would have had in it. That
// is a guess: the level holds if an order fits, but if none is found, that proves nothing.
Verdict decide_partial(Observed& observed, const PredicateReads& predicates, Question question,
                       const Budget& budget, const CheckOptions& options) {
  const Level level = question.level;
  constexpr int kAttempts = 20;
  const bool overwrites = rules(level).phantoms_count();
  const History& h = observed.history();
  Verdict undecided{.level = level};
  undecided.reason = fmt::format(
      "the version order of {} is not complete, and predicate reads do not fit the orders tried",
      h.key_label(predicates.partial()));
  std::vector<PredicateEdge> edges;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    observed.set_predicate_edges(edges);
    Verdict verdict = decide(observed, predicates, question, budget, options);
    if (verdict.outcome != Outcome::Holds) return attempt == 0 ? verdict : undecided;
    const Positions positions = positions_of(observed.history(), verdict);
    const auto placed =
        PredicateReads::read(observed, predicates.at(), budget, options.threads, &positions);
    if (!placed.ok()) undecided.reason = placed.error().what;
    if (!placed.ok()) return undecided;
    if (budget.exhausted()) return Verdict{.level = level};
    if (!placed->snapshots_fit()) return undecided;
    // What is wrong with a version set is so in any order.
    if (!placed->flaws().empty()) return decide(observed, *placed, question, budget, options);
    std::vector<PredicateEdge> more = placed->broken(observed, positions, overwrites, budget);
    const UnplacedReads unplaced(observed, placed->rows(), placed->unplaced());
    const auto found = unplaced.compare(positions, allowed_versions(level), {}, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (found.impossible.valid()) return impossible_read(observed, level, found.impossible);
    if (rules(level).is(LevelFamily::Parallel)) return undecided;  // It has no such order.
    more.insert(more.end(), found.edges.begin(), found.edges.end());
    const auto likely = unplaced.edges_of(found.open);
    more.insert(more.end(), likely.begin(), likely.end());
    if (more.empty() && !found.misfit.valid()) {
      const unsigned threads = options.threads;
      const bool missed = add_missed(verdict, observed, *placed, positions, budget, threads);
      if (budget.exhausted()) return Verdict{.level = level};
      return missed ? undecided : verdict;
    }
    if (!merge_edges(more, edges)) return undecided;
  }
  return undecided;
}

// Decides a level with its predicate reads.
Verdict decide_with_predicates(Observed& observed, const PredicateReads& predicates,
                               Question question, const Budget& budget,
                               const CheckOptions& options) {
  const Level level = question.level;
  if (observed.stopped() || predicates.stopped() || predicates.empty()) {
    return decide(observed, predicates, question, budget, options);
  }
  if (predicates.partial().valid() && !rules(level).is(LevelFamily::Parallel)) {
    return decide_partial(observed, predicates, question, budget, options);
  }
  if (rules(level).is(LevelFamily::Parallel)) {
    return decide_parallel(observed, predicates, question, budget, options);
  }
  const auto settle_with = [&](const std::vector<PredicateEdge>& edges) {
    return settle(observed, predicates, question, edges, budget, options);
  };
  if (predicates.unplaced().empty()) return settle_with({}).verdict;
  Verdict verdict = search_sights(observed, predicates, level, settle_with, budget);
  // Cases are about what predicate reads saw, or about open reads, or there are two moments at
  // which other predicate reads may have seen what they saw; but not several of these.
  const bool alone = observed.open_reads().empty() && observed.open_elements().empty() &&
                     !predicates.has_snapshots();
  if (verdict.cases.empty() || alone) return verdict;
  return undecided_read(observed, level, verdict.cases[0].sights[0].read);
}

// Whether what open reads returned is to be searched for, instead of tried case by case.
bool searches_sources(const Observed& observed, const CheckOptions& options) {
  using Sources = SearchOptions::Sources;
  if (observed.stopped() || observed.open_reads().empty()) return false;
  if (options.search.sources != Sources::Few) return options.search.sources == Sources::Choices;
  return !has_few_cases(observed);
}

bool can_search_sources(Level level) {
  return rules(level).is(LevelFamily::Serial) || rules(level).is(LevelFamily::Snapshots);
}

}  // namespace

Verdict weakened(const Verdict& stronger, Level level) {
  Verdict verdict{.level = level, .outcome = Outcome::Holds, .order = stronger.order};
  verdict.sources = stronger.sources;
  verdict.untold = stronger.untold;
  // Of levels without moments a schedule is another proof: it says what predicate reads saw.
  const bool serial = rules(level).is(LevelFamily::Serial);
  if (!serial) verdict.schedule = stronger.schedule;
  if (!rules(level).begins_apart()) return verdict;
  verdict.schedule = stronger.schedule;
  if (!verdict.schedule.empty()) return verdict;
  for (const TxnId txn : verdict.order) {
    verdict.schedule.push_back({txn, false});
    verdict.schedule.push_back({txn, true});
  }
  return verdict;
}

Result<PredicateReads> read_predicates(const Observed& observed, SnapshotAt at,
                                       const Budget& budget, const CheckOptions& options) {
  if (options.evidence != Evidence::Versions || observed.stopped()) return PredicateReads();
  return PredicateReads::read(observed, at, budget, options.threads);
}

namespace {

// Decides a level by the reads that `observed` has, open ones included; and by what selects and
// aggregates returned, if it is to search for `results`.
Verdict decide_reads(Observed& observed, const PredicateReads& predicates, Level level,
                     bool results, const Budget& budget, const CheckOptions& options) {
  const auto decides = [&](Question question) -> DecideWithout {
    return [&, question](Observed& seen) {
      if (&seen == &observed) {
        return decide_with_predicates(seen, predicates, question, budget, options);
      }
      const auto anew = read_predicates(seen, predicates.at(), budget, options);
      if (anew.ok()) return decide_with_predicates(seen, *anew, question, budget, options);
      Verdict verdict{.level = level};
      verdict.reason = anew.error().what;
      return verdict;
    };
  };
  const auto decide_as = [&](Question question) {
    const bool searches = question.open.sources;
    return decide_open_reads(observed, decides(question), searches, budget, options);
  };
  if (!searches_sources(observed, options)) return decide_as({level, {false, results}});
  if (can_search_sources(level)) return decide_as({level, {true, results}});
  if (rules(level).is(LevelFamily::CommitOrder)) {
    const auto without = decides({level, {false, results}});
    if (auto guessed = guess_open_reads(observed, without, budget, options)) return *guessed;
  }
  // A stronger level that can search them may hold, and then so does this one.
  if (const auto first = searched_first(level)) {
    const Verdict stronger = decide_as({*first, {true, results}});
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  return decide_as({level, {false, results}});
}

}  // namespace

Verdict decide_level(Observed& observed, const PredicateReads& predicates, Level level,
                     const Budget& budget, const CheckOptions& options) {
  const auto decide = [&](Observed& seen, Level asked, bool results, const Budget& part) {
    return decide_reads(seen, predicates, asked, results, part, options);
  };
  if (rules(level).is(LevelFamily::Mixed) && !observed.stopped()) {
    const auto uniform = [&](Level one) {
      return decide_level(observed, predicates, one, budget, options);
    };
    if (auto answer = decide_alike(observed.history(), uniform)) return *std::move(answer);
  }
  const bool by_observation = options.evidence == Evidence::Observed && !observed.stopped();
  if (by_observation) {
    CheckOptions searching = options;
    searching.search.sources = SearchOptions::Sources::Choices;
    const auto search = [&](Observed& seen, Level asked, bool results, const Budget& part) {
      return decide_reads(seen, predicates, asked, results, part, searching);
    };
    auto guessed = decide_by_outcomes(observed, level, search, budget, options);
    if (guessed) return *std::move(guessed);
  }
  const bool untold = by_observation && has_untold_keys(observed.history());
  return untold ? decide_untold(observed, level, decide, budget, options)
                : decide(observed, level, false, budget);
}

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return std::string(kInterrupted);
  if (budget.out_of_memory()) {
    return fmt::format("{} of {} MB reached", kMemoryLimit, options.memory_limit / 1'000'000);
  }
  // What is not exhausted did not afford what was left to do.
  if (budget.out_of_work() || !budget.exhausted()) return fmt::format("{} reached", kWorkLimit);
  return fmt::format("{} of {} s reached", kTimeLimit,
                     static_cast<double>(options.time_limit.count()) / 1000);
}

Limit limit_named(std::string_view reason) {
  if (reason == kInterrupted) return Limit::Cancelled;
  if (reason.starts_with(kMemoryLimit)) return Limit::Memory;
  if (reason.starts_with(kWorkLimit)) return Limit::Work;
  return reason.starts_with(kTimeLimit) ? Limit::Time : Limit::None;
}

}  // namespace ouro
