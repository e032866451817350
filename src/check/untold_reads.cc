#include "check/untold_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "check/one_level.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"
#include "check/predicate_replay.h"
#include "check/scans.h"
#include "check/untold_keys.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/commuting.h"

namespace ouro {
namespace {

// Whether some read has a condition and is no read of a counter.
bool has_conditions(const History& h) {
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    if (has_condition(h.op(OpId{i}).kind) && has_untold_keys(h, OpId{i})) return true;
  }
  return false;
}

// Drops what is said about untold keys, which a replay finds out again; but not what makes an
// unknown transaction take part. `all` has these keys as reads, and `observed` does not.
void drop_untold_sources(const Observed& observed, const Observed& all, Verdict& verdict) {
  const std::vector<ReadKey> untold = std::move(verdict.untold);
  verdict.untold.clear();
  if (untold.empty()) return;
  const Items& items = all.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ItemId item{i};
    if (!items.is_untold(item) || !all.external(item) || !all.counted(all.txn(item))) continue;
    const TxnId writer = all.writer(item);
    const bool counts = writer == kInitialTxn || observed.counted(writer);
    if (!counts) verdict.untold.push_back({items.op(item), items.key(item)});
  }
  std::sort(verdict.untold.begin(), verdict.untold.end());
  std::erase_if(verdict.sources, [&](const ReadSource& said) {
    const ReadKey place{said.read, said.key};
    return std::binary_search(untold.begin(), untold.end(), place) &&
           !std::binary_search(verdict.untold.begin(), verdict.untold.end(), place);
  });
}

Verdict undecided(Level level, std::string reason) {
  Verdict verdict{.level = level};
  verdict.reason = std::move(reason);
  return verdict;
}

// All keys that the scans of `missed` may have missed.
std::vector<ReadKey> all_keys_of(const Scans& scans, const std::vector<ReadKey>& missed) {
  std::vector<ReadKey> out;
  OpId last;
  for (const ReadKey& each : missed) {
    if (std::exchange(last, each.read) != each.read) scans.add_keys(each.read, out);
  }
  return out;
}

// Whether a transaction that does not take part yet may have written a row.
bool may_grow(const Observed& observed) {
  const History& h = observed.history();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(TxnId{t}) != TxnStatus::Unknown || observed.counted(TxnId{t})) continue;
    for (OpId id = h.first_op(TxnId{t}); id < h.end_op(TxnId{t}); ++id.value) {
      if (writes_register(h.op(id).kind)) return true;
    }
  }
  return false;
}

// Adds `more`, which is sorted, to `sorted`. Returns whether any of it is new.
template <class T>
bool add_new(std::vector<T>& sorted, const std::vector<T>& more) {
  std::vector<T> all;
  std::set_union(sorted.begin(), sorted.end(), more.begin(), more.end(), std::back_inserter(all));
  const bool grew = all.size() > sorted.size();
  sorted = std::move(all);
  return grew;
}

// What is a read fits every order that is found. If not, that would be a bug, but no reason to say
// holds.
Verdict no_order(Level level, const History& h, const std::vector<ReadKey>& keys,
                 const ScanMisfits& scanned) {
  const OpId misfit = keys.empty() ? scanned.returned[0].scan : keys[0].read;
  return undecided(level, fmt::format("{}: no order was found that gives what it returned",
                                      h.place(misfit).to_string()));
}

// Levels at which a predicate read has a moment in the order that was found. With `results` the
// search itself finds an order in which selects and aggregates fit. Otherwise the keys of those
// that do not become reads.
//
// Rows that a scan missed become reads at once, since it is mostly known why they were absent; if
// that does not help for long, all keys that it may have missed do. Of rows that it returned and
// that are not there, first two of each transaction become reads, then all.
Verdict decide_in_order(Observed& observed, const Scans& scans, Level level,
                        const DecideReads& decide, bool results, const Budget& budget,
                        const CheckOptions& options) {
  constexpr int kPatience = 6;
  const bool conditions = has_conditions(observed.history());
  int rounds = 0;
  std::vector<ReadKey> untold;
  RowChoice rows = observed.rows();
  std::optional<Observed> again;
  for (;;) {
    Observed& now = again ? *again : observed;
    Verdict verdict = decide(now, level, results, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    verdict.untold = untold;
    if (verdict.outcome != Outcome::Holds) return verdict;
    // By what is said of open reads, more transactions may take part.
    std::optional<Observed> told;
    if (!verdict.sources.empty()) {
      auto all = now.with_sources(verdict.sources, budget, options.threads);
      if (!all.ok()) return undecided(level, all.error().what);
      told = *std::move(all);
    }
    if (budget.exhausted()) return Verdict{.level = level};
    const Positions positions = positions_of(now.history(), verdict);
    const Observed& all_there = told ? *told : now;
    std::vector<ReadKey> keys;
    if (conditions) {
      PredicateReplay replay(observed, all_there, positions, rules(level).phantoms_count());
      keys = replay.misfits(budget);
      if (budget.exhausted()) return Verdict{.level = level};
      if (replay.impossible().valid()) return impossible_read(now, level, replay.impossible());
    }
    const MisfitRows wanted = ++rounds > kPatience ? MisfitRows::All : MisfitRows::Two;
    ScanMisfits scanned =
        scans.compare(all_there, positions, rules(level).phantoms, wanted, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (keys.empty() && scanned.empty()) {
      drop_untold_sources(observed, all_there, verdict);
      return verdict;
    }
    auto& missed = scanned.missed;
    if (wanted == MisfitRows::All) missed = all_keys_of(scans, missed);
    keys.insert(keys.end(), missed.begin(), missed.end());
    std::sort(keys.begin(), keys.end());
    const bool more_keys = add_new(untold, keys);
    const bool more_rows = add_new(rows.chosen, scanned.returned);
    if (!more_keys && !more_rows) return no_order(level, now.history(), keys, scanned);
    auto next = observed.with_reads(untold, rows, budget, options.threads);
    if (!next.ok()) return undecided(level, next.error().what);
    again = *std::move(next);
  }
}

// As decide_in_order(). If the strongest level of the family holds, that is the answer: sessions
// and real time leave few orders, and what a database did is mostly among them.
//
// The search takes only transactions that take part to have written rows. So if it finds that the
// level is violated and there may be more, it is asked what each read saw, one by one. Small
// histories are asked so first, since that is told better.
Verdict decide_with_moments(Observed& observed, const Scans& scans, Level level,
                            const DecideReads& decide, const Budget& budget,
                            const CheckOptions& options) {
  const bool results = rules(level).phantoms_count() && has_conditions(observed.history());
  const auto in_order = [&](Level asked, bool search, const Budget& part) {
    return decide_in_order(observed, scans, asked, decide, search, part, options);
  };
  using Sources = SearchOptions::Sources;
  constexpr std::size_t kFewTxns = 20;
  const Sources sources = options.search.sources;
  const bool small = sources == Sources::Few && observed.history().txn_count() <= kFewTxns;
  // Serializability, which implies the levels that allow phantoms, has such a search.
  const bool phantoms = rules(level).phantoms && has_conditions(observed.history());
  if (phantoms && !small && sources != Sources::Cases) {
    const Verdict stronger =
        decide_with_moments(observed, scans, Level::Serializable, decide, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  if (!results || small || sources == Sources::Cases) {
    Verdict verdict = in_order(level, false, budget);
    if (!results || verdict.outcome != Outcome::Undecided || budget.exhausted()) return verdict;
  }
  const Level strongest = strongest_of_family(level);
  std::vector<Way> ways;
  if (level != strongest && implies(strongest, level)) {
    ways.emplace_back([&](const Budget& part) -> Turn {
      const Verdict stronger = in_order(strongest, true, part);
      if (stronger.outcome == Outcome::Holds) return {weakened(stronger, level)};
      return {std::nullopt, stronger.outcome == Outcome::Violated};
    });
  }
  const auto alone = [&](const Budget& part) { return in_order(level, true, part); };
  Verdict verdict = take_turns(budget, first_turn(observed, options.search), ways, alone);
  const bool open = verdict.outcome == Outcome::Violated && may_grow(observed);
  return open ? in_order(level, false, budget) : verdict;
}

// Levels without moments, where any version may be seen of which the level allows it: all keys
// become reads. REQUIRES: these are all keys.
Verdict decide_all(Observed& observed, const AllUntold& untold, Level level,
                   const DecideReads& decide, const Budget& budget, const CheckOptions& options) {
  const OpId impossible = untold.impossible.read;
  if (impossible.valid()) return impossible_read(observed, level, impossible);
  auto all = observed.with_untold(untold.keys, budget, options.threads);
  if (!all.ok()) return undecided(level, all.error().what);
  Verdict verdict = decide(*all, level, false, budget);
  verdict.untold = untold.keys;
  return verdict;
}

// Levels without moments, if rows of scans are left out: there is no order to compare these with.
// If the level is violated without them, it is violated. If not, a stronger one may hold; else all
// rows become reads.
Verdict decide_with_all_rows(Observed& observed, const Scans& scans, Level level,
                             const DecideReads& decide, const Budget& budget,
                             const CheckOptions& options) {
  Verdict verdict = decide(observed, level, false, budget);
  if (verdict.outcome == Outcome::Violated || budget.exhausted()) return verdict;
  if (const auto first = searched_first(level)) {
    const Verdict stronger = decide_with_moments(observed, scans, *first, decide, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  constexpr std::uint64_t kStepsPerRow = 30;
  const std::size_t rows = columns_of(observed.history()).row_reads.size();
  const bool affordable = budget.affords(kStepsPerRow * rows);
  if (!affordable || budget.exhausted()) return Verdict{.level = level};
  auto all = observed.with_reads({}, {}, budget, options.threads);
  if (!all.ok()) return undecided(level, all.error().what);
  if (budget.exhausted()) return Verdict{.level = level};
  return decide_untold(*all, level, decide, budget, options);
}

}  // namespace

Verdict decide_untold(Observed& observed, Level level, const DecideReads& decide,
                      const Budget& budget, const CheckOptions& options) {
  const bool has_order =
      rules(level).is(LevelFamily::Snapshots) || rules(level).is(LevelFamily::Serial);
  const Scans scans(observed);
  if (!has_order && !observed.rows().all()) {
    return decide_with_all_rows(observed, scans, level, decide, budget, options);
  }
  if (has_order) return decide_with_moments(observed, scans, level, decide, budget, options);
  // If there are many keys, a stronger level is asked first, which need not look at all of them.
  constexpr std::size_t kFew = 2'000'000;
  constexpr std::size_t kMost = 50'000'000;
  const bool conditions = has_conditions(observed.history());
  AllUntold untold;
  if (!conditions) untold = all_untold(observed, scans, kFew, budget);
  if (conditions || untold.too_many) {
    if (const auto first = searched_first(level)) {
      const Verdict stronger =
          decide_with_moments(observed, scans, *first, decide, budget, options);
      if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
    }
    untold = all_untold(observed, scans, conditions ? kFew / 2 : kMost, budget);
  }
  if (budget.exhausted()) return Verdict{.level = level};
  if (untold.too_many) {
    return undecided(level, "predicate reads may have seen too many versions of too many keys");
  }
  return decide_all(observed, untold, level, decide, budget, options);
}

}  // namespace ouro
