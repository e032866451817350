// Chooses the engine for a level.

#include "ouro/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/parallel.h"
#include "check/check_within.h"
#include "check/local/local.h"
#include "check/observed/observed.h"
#include "check/open_reads.h"
#include "check/polygraph/polygraph.h"
#include "check/timeline/check_timeline.h"
#include "check/versions/predicate_reads.h"
#include "check/weak/weak.h"
#include "history/access.h"

namespace ouro {
namespace {

std::string stop_reason(const Budget& budget, const CheckOptions& options) {
  if (budget.was_cancelled()) return "interrupted";
  if (budget.out_of_memory()) {
    return fmt::format("memory limit of {} MB reached", options.memory_limit / 1'000'000);
  }
  if (budget.out_of_work()) return "work limit reached";
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
    if (!verdicts.empty() && budget.exhausted()) {
      verdicts.push_back(
          {.level = level, .evidence = options.evidence, .reason = stop_reason(budget, options)});
      continue;
    }
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

Verdict decide(const Observed& observed, const PredicateReads& predicates, Level level,
               const Budget& budget, const CheckOptions& options) {
  constexpr std::uint64_t kSteps = 1000;  // However small the history is.
  budget.charge(kSteps);
  Verdict verdict{.level = level};
  if (observed.stopped() || predicates.stopped()) return verdict;
  add_wrong_reads(verdict, observed, predicates.flaws(), options.examples);
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

bool reads_snapshots(Level level) {
  return level == Level::Prefix || (level >= Level::Si && level <= Level::StrongSi);
}

// What a verdict that holds says about a weaker level: the order is the same. Where that level has
// begins and the stronger one does not, everybody begins just before committing.
Verdict weakened(const Verdict& stronger, Level level) {
  Verdict verdict{.level = level, .outcome = Outcome::Holds, .order = stronger.order};
  verdict.sources = stronger.sources;
  if (!reads_snapshots(level)) return verdict;
  verdict.schedule = stronger.schedule;
  if (!verdict.schedule.empty()) return verdict;
  for (const TxnId txn : verdict.order) {
    verdict.schedule.push_back({txn, false});
    verdict.schedule.push_back({txn, true});
  }
  return verdict;
}

// Decides a level, with more and more of what predicate reads ask for, until its order keeps all.
Verdict decide_with_predicates(Observed& observed, const PredicateReads& predicates, Level level,
                               const Budget& budget, const CheckOptions& options) {
  if (observed.stopped() || predicates.stopped() || predicates.empty()) {
    return decide(observed, predicates, level, budget, options);
  }
  if (level == Level::ParallelSi) {
    // What holds at a stronger level needs only the edges that its order does not keep.
    const Verdict stronger =
        decide_with_predicates(observed, predicates, Level::SessionSi, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
    observed.set_predicate_edges(predicates.all(observed, budget, options.threads));
    return decide(observed, predicates, level, budget, options);
  }
  std::vector<PredicateEdge> edges;
  const bool overwrites = level >= Level::Prefix && level != Level::RepeatableRead;
  for (;;) {
    observed.set_predicate_edges(edges);
    Verdict verdict = decide(observed, predicates, level, budget, options);
    if (verdict.outcome != Outcome::Holds) return verdict;
    const auto broken =
        predicates.broken(observed, positions_of(observed, verdict), overwrites, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (!merge(broken, edges)) return verdict;
  }
}

// Predicate reads matter only by version orders.
Result<PredicateReads> read_predicates(const Observed& observed, SnapshotAt at,
                                       const Budget& budget, const CheckOptions& options) {
  if (options.evidence != Evidence::Versions || observed.stopped()) return PredicateReads();
  return PredicateReads::read(observed, at, budget, options.threads);
}

// The same, with open reads.
Verdict decide_level(Observed& observed, const PredicateReads& predicates, Level level,
                     const Budget& budget, const CheckOptions& options) {
  const auto without = [&](Observed& seen) {
    if (&seen == &observed) {
      return decide_with_predicates(seen, predicates, level, budget, options);
    }
    const auto anew = read_predicates(seen, predicates.at(), budget, options);
    if (anew.ok()) return decide_with_predicates(seen, *anew, level, budget, options);
    Verdict verdict{.level = level};
    verdict.reason = anew.error().what;
    return verdict;
  };
  return decide_open_reads(observed, without, budget, options);
}

// Decides several levels, the strongest first: if it holds, so do all that it implies. Without
// limits, two of which neither implies the other are decided at once. If time or work is limited,
// one that takes too long is put off, so that it does not keep the others from being decided; it
// may be answered by then, as a weaker one is violated.
class LevelByLevel {
 public:
  LevelByLevel(Observed& observed, const PredicateReads& predicates, const Budget& budget,
               const CheckOptions& options)
      : observed_(observed), predicates_(predicates), budget_(budget), options_(options) {}

  std::vector<Verdict> run(std::span<const Level> levels) {
    verdicts_.resize(levels.size());
    beside_.resize(levels.size());
    std::vector<std::size_t> order(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      verdicts_[i].level = levels[i];
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return levels[a] > levels[b]; });
    for (std::size_t done = 0; done < order.size(); ++done) {
      const std::size_t here = order[done];
      const Verdict* holds = find(Outcome::Holds, levels[here]);
      const bool last = done + 1 == order.size();
      verdicts_[here] = holds != nullptr            ? weakened(*holds, levels[here])
                        : beside_[here].has_value() ? *std::move(beside_[here])
                        : last                      ? decide(levels[here])
                        : budget_.limited()
                            ? try_soon(levels[here])
                            : decide_with_another(levels, std::span(order).subspan(done));
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      Verdict& verdict = verdicts_[order[i]];
      if (verdict.outcome == Outcome::Undecided) settle(verdict);
    }
    for (Verdict& verdict : verdicts_) verdict.evidence = options_.evidence;
    return std::move(verdicts_);
  }

 private:
  // A verdict that answers `level`: of a stronger one that holds or a weaker one that does not.
  [[nodiscard]] const Verdict* find(Outcome outcome, Level level) const {
    for (const Verdict& verdict : verdicts_) {
      const bool answers =
          outcome == Outcome::Holds ? implies(verdict.level, level) : implies(level, verdict.level);
      if (verdict.outcome == outcome && answers) return &verdict;
    }
    return nullptr;
  }

  [[nodiscard]] Verdict decide(Level level) {
    return decide_level(observed_, predicates_, level, budget_, options_);
  }

  // Decides the first of `order`; beside it, on another thread, the next one that must be decided
  // however the first turns out.
  [[nodiscard]] Verdict decide_with_another(std::span<const Level> levels,
                                            std::span<const std::size_t> order) {
    const Level level = levels[order[0]];
    const auto other = std::find_if(order.begin() + 1, order.end(), [&](std::size_t i) {
      return !beside_[i] && !implies(level, levels[i]) &&
             find(Outcome::Holds, levels[i]) == nullptr;
    });
    if (other == order.end() || !worth_a_thread()) return decide(level);
    Verdict verdict;
    for_each_part(2, [&](std::size_t part) {
      if (part == 0) {
        verdict = decide(level);
      } else {
        beside_[*other] = decide(levels[*other]);
      }
    });
    return verdict;
  }

  // Not where memory is limited: two levels at once take twice as much. Nor with predicate reads:
  // each level has edges of its own for them.
  [[nodiscard]] bool worth_a_thread() const {
    constexpr std::size_t kManyItems = 20'000;
    return !observed_.stopped() && observed_.items().size() >= kManyItems && predicates_.empty() &&
           options_.memory_limit == 0 && thread_count(options_.threads) > 1;
  }

  // With a share of the time and of the work.
  [[nodiscard]] Verdict try_soon(Level level) {
    const Budget share(budget_, 4);
    return budget_.exhausted() ? Verdict{.level = level}
                               : decide_level(observed_, predicates_, level, share, options_);
  }

  void settle(Verdict& verdict) {
    const Level level = verdict.level;
    if (const Verdict* holds = find(Outcome::Holds, level)) {
      verdict = weakened(*holds, level);
    } else if (const Verdict* violated = find(Outcome::Violated, level)) {
      verdict = *violated;
      verdict.level = level;
    } else if (!budget_.exhausted() && verdict.reason.empty()) {
      verdict = decide(level);
    }
    set_reason(verdict);
  }
  // Keep what a decision said itself.
  void set_reason(Verdict& verdict) const {
    if (verdict.outcome != Outcome::Undecided || !verdict.reason.empty()) return;
    verdict.reason = stop_reason(budget_, options_);
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  std::vector<Verdict> verdicts_;
  std::vector<std::optional<Verdict>> beside_;  // Decided before their turn.
};

// Decides several levels by as few of them as possible: first the strongest, as most databases keep
// what they promise; once that fails, whichever tells most about the others however it turns out.
// Of a limit of time or work none may take more than a share before all had their turn; and once
// one took too long, those that need no search come first, as they are quick.
class OutcomesOnly {
 public:
  OutcomesOnly(Observed& observed, const PredicateReads& predicates, const Budget& budget,
               const CheckOptions& options)
      : observed_(observed), predicates_(predicates), budget_(budget), options_(options) {}

  std::vector<Verdict> run(std::span<const Level> levels) {
    std::vector<Verdict> verdicts;
    for (const Level level : levels) {
      verdicts.push_back({.level = level, .evidence = options_.evidence});
    }
    if (budget_.limited()) ask_each(verdicts, kShare);
    ask_each(verdicts, 1);
    for (Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::Undecided) continue;
      verdict.reason =
          budget_.exhausted() || reason_.empty() ? stop_reason(budget_, options_) : reason_;
    }
    return verdicts;
  }

 private:
  static constexpr unsigned kShare = 4;

  // Gives every level that is open one turn, of the `share`th part of the time and of the work.
  void ask_each(std::vector<Verdict>& verdicts, unsigned share) {
    std::vector<Level> slow;
    for (auto open = undecided(verdicts, slow); !open.empty() && !budget_.exhausted();
         open = undecided(verdicts, slow)) {
      const Level next = choose(open, !slow.empty());
      const Outcome outcome = decide(next, share);
      if (outcome == Outcome::Undecided) slow.push_back(next);
      violated_ |= outcome == Outcome::Violated;
      for (Verdict& verdict : verdicts) {
        const bool follows =
            outcome == Outcome::Holds ? implies(next, verdict.level) : implies(verdict.level, next);
        if (follows && outcome != Outcome::Undecided) verdict.outcome = outcome;
      }
    }
  }

  [[nodiscard]] Outcome decide(Level level, unsigned share) {
    if (share == 1) {
      const Verdict verdict = decide_level(observed_, predicates_, level, budget_, options_);
      if (!verdict.reason.empty()) reason_ = verdict.reason;
      return verdict.outcome;
    }
    const Budget part(budget_, share);
    return decide_level(observed_, predicates_, level, part, options_).outcome;
  }

  [[nodiscard]] Level choose(std::span<const Level> open, bool slow) const {
    const Level weakest = *std::min_element(open.begin(), open.end());
    if (slow && weakest <= Level::Causal) {
      Level quick = weakest;
      for (const Level level : open) {
        if (level <= Level::Causal) quick = std::max(quick, level);
      }
      return quick;
    }
    return violated_ || slow ? most_telling(open) : *std::max_element(open.begin(), open.end());
  }

  static std::vector<Level> undecided(std::span<const Verdict> verdicts,
                                      std::span<const Level> but) {
    std::vector<Level> out;
    for (const Verdict& verdict : verdicts) {
      const bool left_out = std::find(but.begin(), but.end(), verdict.level) != but.end();
      if (verdict.outcome == Outcome::Undecided && !left_out) out.push_back(verdict.level);
    }
    return out;
  }

  static Level most_telling(std::span<const Level> open) {
    const auto told = [&](Level level) {
      const auto weaker = std::count_if(open.begin(), open.end(),
                                        [&](Level other) { return implies(level, other); });
      const auto stronger = std::count_if(open.begin(), open.end(),
                                          [&](Level other) { return implies(other, level); });
      return std::min(weaker, stronger);
    };
    return *std::max_element(open.begin(), open.end(),
                             [&](Level a, Level b) { return told(a) < told(b); });
  }

  Observed& observed_;
  const PredicateReads& predicates_;
  const Budget& budget_;
  const CheckOptions& options_;
  bool violated_ = false;  // Whether any is.
  std::string reason_;     // Why one could not be decided, if it was no limit of the user.
};

// What a history says if predicate reads saw what was committed at one moment.
struct Judgement {
  std::vector<Verdict> verdicts;
  std::optional<Error> doubt;   // Why …
  std::vector<Level> doubtful;  // … these may hold, though they are violated.
  bool has_snapshots = false;   // Whether the moment matters,
  bool fits = false;            // and gives what was returned.
  bool stopped = false;         // Nobody knows.

  [[nodiscard]] bool doubts(const Verdict& verdict) const {
    return std::find(doubtful.begin(), doubtful.end(), verdict.level) != doubtful.end();
  }
};

std::vector<Verdict> decide_all(Observed& observed, const PredicateReads& predicates,
                                std::span<const Level> levels, const Budget& budget,
                                const CheckOptions& options) {
  return options.outcomes_only ? OutcomesOnly(observed, predicates, budget, options).run(levels)
                               : LevelByLevel(observed, predicates, budget, options).run(levels);
}

std::vector<Level> violated_of(std::span<const Verdict> verdicts) {
  std::vector<Level> out;
  for (const Verdict& verdict : verdicts) {
    if (verdict.outcome == Outcome::Violated) out.push_back(verdict.level);
  }
  return out;
}

Error ambiguous(const Observed& observed) {
  const History& h = observed.history();
  return error_at(h, observed.items().op(observed.unclear()),
                  fmt::format("the scan did not list {}, which may be absent for more than one "
                              "reason; list the tombstones that scans meet, like [\"k\",17]",
                              h.key_label(observed.items().key(observed.unclear()))));
}

// What holds with one source for every read holds. But a violation may come from having taken the
// wrong one for a key that a scan did not list. So those that are violated are decided again
// without such reads; what holds then is ambiguous.
Result<Judgement> judge(const History& history, std::span<const Level> levels, SnapshotAt at,
                        const Budget& budget, const CheckOptions& options) {
  auto observed = Observed::observe(history, budget, options.threads, options.evidence);
  if (!observed.ok()) return std::move(observed).error();
  auto predicates = read_predicates(*observed, at, budget, options);
  if (!predicates.ok()) return std::move(predicates).error();
  Judgement out;
  out.verdicts = decide_all(*observed, *predicates, levels, budget, options);
  out.stopped = observed->stopped() || predicates->stopped();
  if (out.stopped) return out;
  out.has_snapshots = predicates->has_snapshots();
  out.fits = predicates->snapshots_fit();
  const std::vector<Level> violated = violated_of(out.verdicts);
  const bool assumed = observed->unclear().valid() && !options.scans_list_tombstones &&
                       !scans_list_tombstones(history);
  if (violated.empty() || !assumed) return out;
  auto certain =
      Observed::observe(history, budget, options.threads, options.evidence, Absences::Certain);
  if (!certain.ok()) return std::move(certain).error();
  predicates = read_predicates(*certain, at, budget, options);
  if (!predicates.ok()) return std::move(predicates).error();
  std::vector<Verdict> again = decide_all(*certain, *predicates, violated, budget, options);
  std::size_t next = 0;
  for (Verdict& verdict : out.verdicts) {
    if (verdict.outcome != Outcome::Violated) continue;
    Verdict& other = again[next++];
    if (other.outcome == Outcome::Holds) {
      out.doubt = ambiguous(*observed);
      out.doubtful.push_back(verdict.level);
    } else {
      verdict = std::move(other);
    }
  }
  return out;
}

// Whether what is wrong if reads saw what was there at the start is so at the commit, too: they see
// more then, so only what they missed may be another matter.
bool at_commit_too(const History& history, const Anomaly& anomaly) {
  if (anomaly.kind == AnomalyKind::ContradictoryOrder) return false;
  const SnapshotMoments moments(history, SnapshotAt::Commit);
  return std::none_of(anomaly.edges.begin(), anomaly.edges.end(), [&](const Edge& edge) {
    if (edge.kind != EdgeKind::ReadWrite || !edge.from_op.valid()) return false;
    if (!has_condition(history.op(edge.from_op).kind)) return false;
    return !history.predicate_read(edge.from_op).has_version_set &&
           moments.commit(edge.to) < moments.snapshot(edge.from);
  });
}

// Of a violation at both moments, one proof of each is kept, or one of both.
void add_proof(const History& history, Verdict& verdict, Verdict other) {
  const auto of_both =
      std::find_if(verdict.anomalies.begin(), verdict.anomalies.end(),
                   [&](const Anomaly& anomaly) { return at_commit_too(history, anomaly); });
  if (of_both != verdict.anomalies.end()) {
    std::rotate(verdict.anomalies.begin(), of_both, of_both + 1);
    return;
  }
  if (!other.refutation.steps.empty()) verdict.refutation = std::move(other.refutation);
  if (other.anomalies.empty()) return;
  auto& count = verdict.counts[static_cast<std::size_t>(other.anomalies[0].kind)];
  if (count == 0) count = 1;
  verdict.anomalies.push_back(std::move(other.anomalies[0]));
}

// Timestamps do not say whether predicate reads saw what was committed when their transaction
// started or when it committed. What they returned may; if both are possible, either will do.
Result<std::vector<Verdict>> check_by_reads(const History& history, std::span<const Level> levels,
                                            const Budget& budget, const CheckOptions& options) {
  auto start = judge(history, levels, SnapshotAt::Start, budget, options);
  if (!start.ok()) return std::move(start).error();
  const std::vector<Level> violated = violated_of(start->verdicts);
  if (violated.empty() || !start->has_snapshots) {
    if (start->doubt) return *std::move(start->doubt);
    return std::move(start->verdicts);
  }
  auto commit = judge(history, violated, SnapshotAt::Commit, budget, options);
  if (!commit.ok()) return std::move(commit).error();
  const bool may_hold = commit->fits || commit->stopped;
  bool doubtful = false;
  std::size_t next = 0;
  for (Verdict& verdict : start->verdicts) {
    if (verdict.outcome != Outcome::Violated) continue;
    Verdict& other = commit->verdicts[next++];
    if (!may_hold) {
      doubtful |= start->doubts(verdict);
    } else if (start->fits && other.outcome == Outcome::Violated) {
      doubtful |= start->doubts(verdict) || commit->doubts(verdict);
      add_proof(history, verdict, std::move(other));
    } else {
      doubtful |= commit->doubts(verdict);
      verdict = std::move(other);
    }
  }
  if (doubtful) return start->doubt ? *std::move(start->doubt) : *std::move(commit->doubt);
  return std::move(start->verdicts);
}

}  // namespace

bool implies(Level stronger, Level weaker, Evidence evidence) {
  const bool comparable = evidence != Evidence::Timestamps ||
                          (stronger >= Level::Serializable) == (weaker >= Level::Serializable);
  return comparable && implies(stronger, weaker);
}

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

Result<std::vector<Verdict>> check_within(const Budget& budget, const History& history,
                                          std::span<const Level> levels,
                                          const CheckOptions& options) {
  for (const Level level : levels) {
    if (!decidable(level, options.evidence)) {
      const Evidence other =
          decidable(level, Evidence::Observed) ? Evidence::Observed : Evidence::Versions;
      Error error;
      error.what = fmt::format("level '{}' cannot be decided by evidence '{}'; it needs '{}'",
                               info(level).name, name(options.evidence), name(other));
      return error;
    }
  }
  if (options.evidence == Evidence::Timestamps) {
    return check_by_timestamps(history, levels, budget, options);
  }
  return check_by_reads(history, levels, budget, options);
}

Result<Verdict> check_within(const Budget& budget, const History& history, Level level,
                             const CheckOptions& options) {
  auto verdicts = check_within(budget, history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

Result<std::vector<Verdict>> check(const History& history, std::span<const Level> levels,
                                   const CheckOptions& options) {
  const Budget budget(options.time_limit, options.cancelled, options.memory_limit,
                      options.work_limit);
  return check_within(budget, history, levels, options);
}

Result<Verdict> check(const History& history, Level level, const CheckOptions& options) {
  auto verdicts = check(history, std::span(&level, 1), options);
  if (!verdicts.ok()) return std::move(verdicts).error();
  return std::move((*verdicts).front());
}

}  // namespace ouro
