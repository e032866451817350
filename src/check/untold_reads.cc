#include "check/untold_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/level_rules.h"
#include "check/missed_rows.h"
#include "check/one_level.h"
#include "check/positions.h"
#include "check/predicate_replay.h"
#include "check/sight_search.h"
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

// Edges of predicate reads that are a guess: PredicateEdge, with the write as an operation, since
// items have other numbers when more keys become reads.
class Guess {
 public:
  [[nodiscard]] bool empty() const { return edges_.empty(); }
  void drop() {
    edges_.clear();
    may_grow_ = false;
  }
  // Replaces the edges by those of all transactions that have a moment in the order at which they
  // fit, and removes their keys from `keys`. Returns whether that is a new guess.
  bool renew(const Observed& observed, PredicateReplay& replay, std::vector<ReadKey>& keys,
             const Budget& budget) {
    if (!may_grow_) return false;
    constexpr int kMostRounds = 20;
    may_grow_ = ++rounds_ < kMostRounds;
    const auto before = std::exchange(edges_, {});
    const History& h = observed.history();
    for (const TxnId txn : replay.predicate_txns()) {
      if (budget.exhausted()) break;
      const auto placed = replay.place(txn);
      if (!placed) continue;
      std::erase_if(keys, [&](const ReadKey& key) { return h.txn_of(key.read) == txn; });
      for (const PredicateEdge& edge : *placed) {
        edges_.insert({edge.reader, edge.read, observed.items().op(edge.write), edge.overwrites});
      }
    }
    return edges_ != before;
  }
  [[nodiscard]] std::vector<PredicateEdge> edges(const Observed& observed) const {
    std::vector<PredicateEdge> out;
    const Items& items = observed.items();
    for (const auto& [reader, read, write, overwrites] : edges_) {
      const TxnId writer = observed.history().txn_of(write);
      ItemId item = items.first(writer);
      while (items.op(item) != write) ++item.value;
      out.push_back({reader, read, item, overwrites});
    }
    return out;
  }

 private:
  std::set<std::tuple<TxnId, OpId, OpId, bool>> edges_;  // Sorted by reader.
  int rounds_ = 0;
  bool may_grow_ = true;
};

// All keys that the scans of `missed` may have missed.
std::vector<ReadKey> all_keys_of(const Scans& scans, const std::vector<ReadKey>& missed) {
  std::vector<ReadKey> out;
  OpId last;
  for (const ReadKey& each : missed) {
    if (std::exchange(last, each.read) != each.read) scans.add_keys(each.read, out);
  }
  return out;
}

// How far to go: only guess, and give up where that does not help; or find out.
enum class Effort : bool { Guess, All };

// Levels at which a predicate read has a moment in the order that was found. Reads that do not fit
// there are first moved to a moment where they do, by edges that are a guess. Keys of those that
// have none near by become reads.
//
// Rows that a scan missed become reads at once, since it is mostly known why they were absent; if
// that does not help for long, all keys that it may have missed do.
Verdict decide_in_order(Observed& observed, const Scans& scans, Level level,
                        const DecideReads& decide, const Budget& budget,
                        const CheckOptions& options, Effort effort) {
  constexpr int kPatience = 6;
  int rounds = 0;
  std::vector<ReadKey> untold;
  Guess guess;
  std::optional<Observed> again;
  for (;;) {
    Observed& now = again ? *again : observed;
    now.set_predicate_edges(guess.edges(now));
    Verdict verdict = decide(now, level);
    now.set_predicate_edges({});
    if (budget.exhausted()) return Verdict{.level = level};
    if (verdict.outcome != Outcome::Holds && !guess.empty()) {
      if (effort == Effort::Guess) return Verdict{.level = level};
      guess.drop();
      continue;
    }
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
    auto misfits = replay.misfits(budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (replay.impossible().valid()) return impossible_read(now, level, replay.impossible());
    std::vector<ReadKey> missed =
        scans.missed(all_there, positions, rules(level).phantoms, budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (misfits.empty() && missed.empty()) {
      drop_untold_sources(observed, verdict);
      return verdict;
    }
    std::vector<ReadKey> keys = misfits;
    const bool grew = !misfits.empty() && guess.renew(all_there, replay, keys, budget);
    const bool gives_up = !misfits.empty() && (!keys.empty() || !grew);
    if (effort == Effort::Guess && gives_up) return Verdict{.level = level};
    if (++rounds > kPatience) missed = all_keys_of(scans, missed);
    keys.insert(keys.end(), missed.begin(), missed.end());
    std::sort(keys.begin(), keys.end());
    std::vector<ReadKey> more;
    std::set_union(untold.begin(), untold.end(), keys.begin(), keys.end(),
                   std::back_inserter(more));
    if (more.size() > untold.size()) {
      untold = std::move(more);
      auto next = observed.with_untold(untold, budget, options.threads);
      if (!next.ok()) return undecided(level, next.error().what);
      again = *std::move(next);
    } else if (!grew && guess.empty()) {
      // A key that is a read fits every order that is found. If not, that would be a bug, but no
      // reason to say holds.
      return undecided(level, fmt::format("{}: no order was found that gives what it returned",
                                          now.history().place(keys[0].read).to_string()));
    } else if (!grew) {
      guess.drop();
    }
  }
}

// As decide_in_order(). If the strongest level of the family holds, that is the answer: sessions
// and real time leave few orders, and what a database did is mostly among them.
Verdict decide_with_moments(Observed& observed, const Scans& scans, Level level,
                            const DecideReads& decide, const Budget& budget,
                            const CheckOptions& options) {
  const Level strongest = rules(level).begins_apart() ? Level::StrongSi : Level::StrictSerializable;
  if (has_conditions(observed.history()) && level != strongest && implies(strongest, level)) {
    const Verdict stronger =
        decide_in_order(observed, scans, strongest, decide, budget, options, Effort::Guess);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  return decide_in_order(observed, scans, level, decide, budget, options, Effort::All);
}

// Levels without moments, where any version may be seen of which the level allows it: all keys
// become reads. REQUIRES: these are all keys.
Verdict decide_all(Observed& observed, const AllUntold& untold, Level level,
                   const DecideReads& decide, const Budget& budget, const CheckOptions& options) {
  const OpId impossible = untold.impossible.read;
  if (impossible.valid()) return impossible_read(observed, level, impossible);
  auto all = observed.with_untold(untold.keys, budget, options.threads);
  if (!all.ok()) return undecided(level, all.error().what);
  Verdict verdict = decide(*all, level);
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
