#include "check/untold_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/level_rules.h"
#include "check/missed_rows.h"
#include "check/one_level.h"
#include "check/polygraph/polygraph.h"
#include "check/positions.h"
#include "check/predicate_replay.h"
#include "check/untold_keys.h"
#include "history/access.h"
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
// unknown transaction take part.
void drop_untold_sources(const Observed& observed, Verdict& verdict) {
  const std::vector<ReadKey> untold = std::move(verdict.untold);
  verdict.untold.clear();
  std::erase_if(verdict.sources, [&](const ReadSource& said) {
    const ReadKey place{said.read, said.key};
    if (!std::binary_search(untold.begin(), untold.end(), place)) return false;
    const bool counts = said.writer == kInitialTxn || observed.counted(said.writer);
    if (!counts) verdict.untold.push_back(place);
    return counts;
  });
  std::sort(verdict.untold.begin(), verdict.untold.end());
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

// Levels at which a predicate read has a moment in the order that was found. With `results` the
// search itself finds an order in which selects and aggregates fit. Otherwise the keys of those
// that do not become reads.
//
// Rows that a scan missed become reads at once, since it is mostly known why they were absent; if
// that does not help for long, all keys that it may have missed do.
Verdict decide_in_order(Observed& observed, const Scans& scans, Level level,
                        const DecideReads& decide, bool results, const Budget& budget,
                        const CheckOptions& options) {
  constexpr int kPatience = 6;
  int rounds = 0;
  std::vector<ReadKey> untold;
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
    PredicateReplay replay(observed, all_there, positions, rules(level).phantoms_count());
    std::vector<ReadKey> keys = replay.misfits(budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (replay.impossible().valid()) return impossible_read(now, level, replay.impossible());
    std::vector<ReadKey> missed =
        scans.missed(all_there, positions, rules(level).phantoms, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (keys.empty() && missed.empty()) {
      drop_untold_sources(observed, verdict);
      return verdict;
    }
    if (++rounds > kPatience) missed = all_keys_of(scans, missed);
    keys.insert(keys.end(), missed.begin(), missed.end());
    std::sort(keys.begin(), keys.end());
    std::vector<ReadKey> more;
    std::set_union(untold.begin(), untold.end(), keys.begin(), keys.end(),
                   std::back_inserter(more));
    if (more.size() == untold.size()) {
      // A key that is a read fits every order that is found. If not, that would be a bug, but no
      // reason to say holds.
      return undecided(level, fmt::format("{}: no order was found that gives what it returned",
                                          now.history().place(keys[0].read).to_string()));
    }
    untold = std::move(more);
    auto next = observed.with_untold(untold, budget, options.threads);
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
  const Level strongest = rules(level).begins_apart() ? Level::StrongSi : Level::StrictSerializable;
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

}  // namespace

Verdict decide_untold(Observed& observed, Level level, const DecideReads& decide,
                      const Budget& budget, const CheckOptions& options) {
  const bool has_order =
      !rules(level).is(LevelFamily::CommitOrder) && !rules(level).is(LevelFamily::Parallel);
  const Scans scans(observed);
  if (has_order) return decide_with_moments(observed, scans, level, decide, budget, options);
  // If there are many keys, a stronger level is asked first, which need not look at all of them.
  constexpr std::size_t kFew = 2'000'000;
  constexpr std::size_t kMost = 50'000'000;
  const bool conditions = has_conditions(observed.history());
  AllUntold untold;
  if (!conditions) untold = all_untold(observed, scans, kFew, budget);
  if (conditions || untold.too_many) {
    if (implies(Level::SessionSi, level)) {
      const Verdict stronger =
          decide_with_moments(observed, scans, Level::SessionSi, decide, budget, options);
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
