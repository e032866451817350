#include "check/one_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/level_rules.h"
#include "check/local/local.h"
#include "check/open_reads.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

// Adds those of `more` that are missing to `edges`, which stay sorted by reader. Returns whether
// any were missing.
bool merge(const std::vector<PredicateEdge>& more, std::vector<PredicateEdge>& edges) {
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

// Decides a level with the predicate edges that `observed` has now, and without its open reads.
// What decides a level without its open reads, or, if it `searches`, with most of them.
struct Question {
  Level level = Level::Serializable;
  bool searches = false;
};

// Decides a level by a search. Session-si has far fewer orders to try than levels that may lose
// updates or that forbid fewer cycles, so where it implies the level it is asked first.
Verdict decide_by_search(const Observed& observed, Question question, const Budget& budget,
                         const CheckOptions& options) {
  const Level level = question.level;
  const auto alone = [&](const Budget& part) {
    return check_polygraph(observed, level, part, options, question.searches);
  };
  const bool looser = rules(level).lost_updates || rules(level).is(LevelFamily::Parallel);
  if (!looser || !implies(Level::SessionSi, level)) return alone(budget);
  const auto stronger = [&](const Budget& part) -> Turn {
    const Verdict verdict =
        check_polygraph(observed, Level::SessionSi, part, options, question.searches);
    if (verdict.outcome == Outcome::Holds) return {weakened(verdict, level)};
    return {std::nullopt, verdict.outcome == Outcome::Violated};
  };
  return take_turns(budget, first_turn(observed, options.search), {stronger}, alone);
}

Verdict decide(const Observed& observed, const PredicateReads& predicates, Question question,
               const Budget& budget, const CheckOptions& options) {
  const Level level = question.level;
  constexpr std::uint64_t kSteps = 1000;  // Charged for every decision, however small.
  budget.charge(kSteps);
  Verdict verdict{.level = level};
  if (observed.stopped() || predicates.stopped()) return verdict;
  add_wrong_reads(verdict, observed, predicates.flaws(), options.examples);
  if (verdict.outcome == Outcome::Violated) return verdict;
  return rules(level).is(LevelFamily::CommitOrder)
             ? check_weak(observed, level, budget, options)
             : decide_by_search(observed, question, budget, options);
}

// Decides a level, adding the edges of predicate reads that the order found so far breaks, until
// the order breaks none.
Verdict decide_with_predicates(Observed& observed, const PredicateReads& predicates,
                               Question question, const Budget& budget,
                               const CheckOptions& options) {
  const Level level = question.level;
  if (observed.stopped() || predicates.stopped() || predicates.empty()) {
    return decide(observed, predicates, question, budget, options);
  }
  if (rules(level).is(LevelFamily::Parallel)) {
    // Session-si implies this level and takes few edges. Only if it fails are all of them needed.
    const Verdict stronger =
        decide_with_predicates(observed, predicates, {Level::SessionSi, false}, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
    observed.set_predicate_edges(predicates.all(observed, budget, options.threads));
    return decide(observed, predicates, question, budget, options);
  }
  std::vector<PredicateEdge> edges;
  const bool overwrites = rules(level).phantoms_count();
  for (;;) {
    observed.set_predicate_edges(edges);
    Verdict verdict = decide(observed, predicates, question, budget, options);
    if (verdict.outcome != Outcome::Holds) return verdict;
    const auto broken =
        predicates.broken(observed, positions_of(observed.history(), verdict), overwrites, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (!merge(broken, edges)) return verdict;
  }
}

// Whether what open reads returned is to be searched for, instead of tried case by case.
bool searches_sources(const Observed& observed, const CheckOptions& options) {
  using Sources = SearchOptions::Sources;
  if (observed.stopped() || observed.open_reads().empty()) return false;
  if (options.search.sources != Sources::Few) return options.search.sources == Sources::Choices;
  return !has_few_cases(observed);
}

bool can_search_sources(Level level) {
  return !rules(level).is(LevelFamily::CommitOrder) && !rules(level).is(LevelFamily::Parallel);
}

}  // namespace

Verdict weakened(const Verdict& stronger, Level level) {
  Verdict verdict{.level = level, .outcome = Outcome::Holds, .order = stronger.order};
  verdict.sources = stronger.sources;
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

Verdict decide_level(Observed& observed, const PredicateReads& predicates, Level level,
                     const Budget& budget, const CheckOptions& options) {
  const auto decide_as = [&](Question question) {
    const auto without = [&](Observed& seen) {
      if (&seen == &observed) {
        return decide_with_predicates(seen, predicates, question, budget, options);
      }
      const auto anew = read_predicates(seen, predicates.at(), budget, options);
      if (anew.ok()) return decide_with_predicates(seen, *anew, question, budget, options);
      Verdict verdict{.level = level};
      verdict.reason = anew.error().what;
      return verdict;
    };
    return decide_open_reads(observed, without, question.searches, budget, options);
  };
  if (!searches_sources(observed, options)) return decide_as({level, false});
  if (can_search_sources(level)) return decide_as({level, true});
  // A stronger level that can search them may hold, and then so does this one.
  if (implies(Level::SessionSi, level)) {
    const Verdict stronger = decide_as({Level::SessionSi, true});
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  return decide_as({level, false});
}

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return "interrupted";
  if (budget.out_of_memory()) {
    return fmt::format("memory limit of {} MB reached", options.memory_limit / 1'000'000);
  }
  if (budget.out_of_work()) return "work limit reached";
  return fmt::format("time limit of {} s reached",
                     static_cast<double>(options.time_limit.count()) / 1000);
}

}  // namespace ouro
