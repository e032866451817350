// Chooses the engine for a level.

#include "ouro/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "check/local/local.h"
#include "check/observed.h"
#include "check/polygraph/polygraph.h"
#include "check/timeline/check_timeline.h"
#include "check/versions/predicate_reads.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return "interrupted";
  if (budget.out_of_memory()) {
    return fmt::format("memory limit of {} MB reached", options.memory_limit / 1'000'000);
  }
  return fmt::format("time limit of {} s reached",
                     static_cast<double>(options.time_limit.count()) / 1000);
}

// The levels one by one; nothing is worth sharing between them.
Result<std::vector<Verdict>> check_by_timestamps(const History& history,
                                                 std::span<const Level> levels,
                                                 const Budget& budget,
                                                 const CheckOptions& options) {
  std::vector<Verdict> verdicts;
  for (const Level level : levels) {
    auto verdict = check_timeline(history, level, budget, options);
    if (!verdict.ok()) return std::move(verdict).error();
    if (verdict->outcome == Outcome::Undecided) verdict->reason = stop_reason(budget, options);
    verdicts.push_back(*std::move(verdict));
  }
  return verdicts;
}

// Adds to `edges`, sorted by reader, those that are not among them; false if all are.
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

Verdict decide(const Observed& observed, Level level, const Budget& budget,
               const CheckOptions& options) {
  Verdict verdict{.level = level};
  if (observed.stopped()) return verdict;
  add_wrong_reads(verdict, observed, options.examples);
  if (verdict.outcome == Outcome::Violated) return verdict;
  return level <= Level::Causal ? check_weak(observed, level, budget, options)
                                : check_polygraph(observed, level, budget, options);
}

// Where the certificate of a level that holds has everybody.
Positions positions_of(const Observed& observed, const Verdict& verdict) {
  Positions positions;
  positions.begin.resize(observed.history().txn_count());
  std::uint32_t next = 0;
  for (const TxnId txn : verdict.order) positions.begin[txn.index()] = next++;
  positions.commit = positions.begin;
  for (const Event& event : verdict.schedule) {
    (event.commit ? positions.commit : positions.begin)[event.txn.index()] = next++;
  }
  return positions;
}

// Decides a level, with more and more of what predicate reads ask for, until its order keeps all.
Verdict decide_with_predicates(Observed& observed, Level level, const Budget& budget,
                               const CheckOptions& options) {
  if (observed.stopped() || observed.predicates().empty()) {
    return decide(observed, level, budget, options);
  }
  if (level == Level::ParallelSi) {
    observed.set_predicate_edges(observed.predicates().all(observed, budget, options.threads));
    return decide(observed, level, budget, options);
  }
  std::vector<PredicateEdge> edges;
  const bool overwrites = level >= Level::Prefix && level != Level::RepeatableRead;
  for (;;) {
    observed.set_predicate_edges(edges);
    Verdict verdict = decide(observed, level, budget, options);
    if (verdict.outcome != Outcome::Holds) return verdict;
    const auto broken =
        observed.predicates().broken(observed, positions_of(observed, verdict), overwrites, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (!merge(broken, edges)) return verdict;
  }
}

}  // namespace

bool decidable(Level level, Evidence evidence) {
  switch (evidence) {
    case Evidence::Observed:
      return level != Level::RepeatableRead;
    case Evidence::Timestamps:
      return level >= Level::Si && level != Level::RepeatableRead;
    case Evidence::Versions:
      return true;
  }
  return false;
}

Result<std::vector<Verdict>> check(const History& history, std::span<const Level> levels,
                                   const CheckOptions& options) {
  for (const Level level : levels) {
    if (!decidable(level, options.evidence)) {
      Error error;
      error.what = fmt::format("level '{}' is not supported by this version", info(level).name);
      if (options.evidence != Evidence::Observed) {
        error.what += fmt::format(" with evidence '{}'", name(options.evidence));
      }
      return error;
    }
  }
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit);
  if (options.evidence == Evidence::Timestamps) {
    return check_by_timestamps(history, levels, budget, options);
  }
  auto observed = Observed::observe(history, budget, options.threads, options.evidence);
  if (!observed.ok()) return std::move(observed).error();
  std::vector<Verdict> verdicts;
  for (const Level level : levels) {
    Verdict verdict = decide_with_predicates(*observed, level, budget, options);
    if (verdict.outcome == Outcome::Undecided) verdict.reason = stop_reason(budget, options);
    verdict.evidence = options.evidence;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Result<Verdict> check(const History& history, Level level, const CheckOptions& options) {
  auto verdicts = check(history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

}  // namespace ouro
