#include "check/untold_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/level_rules.h"
#include "check/one_level.h"
#include "check/positions.h"
#include "check/predicates/possible_result.h"
#include "check/sight_search.h"
#include "history/access.h"

namespace ouro {
namespace {

// The keys that a transaction wrote before one of its operations, and the last write of each.
std::vector<std::pair<KeyId, OpId>> written_before(const History& h, OpId op) {
  std::vector<std::pair<KeyId, OpId>> out;
  const OpId first = h.first_op(h.txn_of(op));
  for (OpId id = op; id > first;) {
    const Op own = h.op(OpId{--id.value});
    if (writes_register(own.kind)) out.emplace_back(own.key, own.id);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto end = std::unique(out.begin(), out.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  out.erase(end, out.end());
  return out;
}

// What a write, or the initial version if it is invalid, is to a read.
RowPart part_of(const Observed& o, const PredicateRead& read, KeyId key, ItemId write) {
  const History& h = o.history();
  const Value value = write.valid() ? o.items().value(write) : h.initial(key);
  const bool row = write.valid() ? leaves_row(o.items().kind(write), value) : !value.is_null();
  return row ? row_part(h, read, {key, value}) : RowPart{};
}

// Adds what the own writes before a read give, but for rows that it returned.
void add_own(const History& h, OpId op, const std::vector<std::pair<KeyId, OpId>>& own,
             PossibleResult& result) {
  const PredicateRead& read = h.predicate_read(op);
  const auto rows = h.rows(read);
  for (const auto& [key, write] : own) {
    const Op last = h.op(write);
    const bool returned = std::any_of(rows.begin(), rows.end(),
                                      [&](const KeyVersion& row) { return row.key == last.key; });
    if (returned || !leaves_row(last)) continue;
    const RowPart part = row_part(h, read, {last.key, last.value});
    result.add({&part, 1}, key);
  }
}

// Whether the keys of `sorted`, which are first in its entries, have `key`.
bool has_key(const std::vector<std::pair<KeyId, OpId>>& sorted, KeyId key) {
  const auto at = std::partition_point(sorted.begin(), sorted.end(),
                                       [&](const auto& entry) { return entry.first < key; });
  return at != sorted.end() && at->first == key;
}

// Adds the keys of which a read may have seen something that it does not tell: rows that match in
// some version, also of transactions that do not take part yet.
void add_all_keys(const Observed& o, const std::vector<bool>& lists, OpId id,
                  std::vector<ReadKey>& out) {
  const History& h = o.history();
  const PredicateRead& read = h.predicate_read(id);
  const auto own = written_before(h, id);
  const auto rows = h.rows(read);
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    const KeyId key{k};
    const bool told = std::any_of(rows.begin(), rows.end(),
                                  [&](const KeyVersion& row) { return row.key == key; });
    if (lists[k] || told || has_key(own, key)) continue;
    bool counts = part_of(o, read, key, {}).counts;
    for (const ItemId item : o.items_of(key)) {
      if (counts) break;
      counts = o.items().is_write(item) && part_of(o, read, key, item).counts;
    }
    if (counts) out.push_back({id, key});
  }
}

// A read that no versions mend: a select that does not return what its transaction wrote before, or
// an aggregate to which no row that it did not write matters. If the transaction takes part in any
// case, that is a violation. If not, it cannot take part; so one of the keys becomes a read, by
// which impossible_results() finds it whenever it would.
struct Impossible {
  OpId read;  // Of a transaction that takes part; invalid if there is none.

  void add(const Observed& whole, const std::vector<bool>& lists, OpId id,
           std::vector<ReadKey>& out) {
    const History& h = whole.history();
    if (whole.counted(h.txn_of(id))) {
      if (!read.valid()) read = id;
      return;
    }
    const auto own = written_before(h, id);
    const auto row = std::find(lists.begin(), lists.end(), false);
    if (!own.empty()) {
      out.push_back({id, own[0].first});
    } else if (row != lists.end()) {
      out.push_back({id, KeyId{static_cast<std::size_t>(row - lists.begin())}});
    }
  }
};

// Replays the predicate reads in an order.
class Replay {
 public:
  // `whole` has the transactions that take part in any case, `observed` those of the order.
  Replay(const Observed& whole, const Observed& observed, const Positions& positions, bool at_begin)
      : whole_(whole),
        o_(observed),
        h_(observed.history()),
        positions_(positions),
        at_begin_(at_begin),
        rows_(observed, &positions),
        lists_(list_keys(h_)) {}

  // The keys that do not fit, sorted.
  std::vector<ReadKey> misfits(const Budget& budget) {
    std::vector<ReadKey> out;
    BudgetTicker ticker(budget, 64);
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (!o_.counted(TxnId{t})) continue;
      for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
        if (!has_condition(h_.op(id).kind)) continue;
        if (ticker.tick()) return {};
        if (predicate_txns_.empty() || predicate_txns_.back() != TxnId{t}) {
          predicate_txns_.emplace_back(t);
        }
        if (h_.op(id).kind == OpKind::Select) select(id, out);
        if (h_.op(id).kind == OpKind::Aggregate) aggregate(id, out);
      }
    }
    return out;
  }
  [[nodiscard]] OpId impossible() const { return impossible_.read; }

  // The transactions with predicate reads that misfits() looked at, ascending.
  [[nodiscard]] std::span<const TxnId> predicate_txns() const { return predicate_txns_; }
  // The edges that the predicate reads of such a transaction have at the nearest moment of the
  // order at which all of them fit, and its other reads, too: they follow who made the rows what
  // they are to the read, and precede who changed that. Nothing if no such moment is near by.
  [[nodiscard]] std::optional<std::vector<PredicateEdge>> place(TxnId txn) {
    Moment now;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const bool unknown =
          h_.op(id).kind == OpKind::Aggregate && h_.predicate_read(id).result.is_unobserved();
      if (!has_condition(h_.op(id).kind) || unknown) continue;
      Shown& shown = now.emplace_back(Shown{id, written_before(h_, id), {}});
      for_each_key(id, shown.own, [&](KeyId key, std::uint32_t, std::uint32_t last) {
        shown.rows.push_back({key, last});
      });
    }
    if (fits(now)) return edges_of(txn, now);
    const std::vector<Step> steps = steps_of(txn, now);
    const std::uint32_t begun = positions_.begin[txn.index()];
    auto high = static_cast<std::size_t>(
        std::partition_point(steps.begin(), steps.end(),
                             [&](const Step& step) { return step.position < begun; }) -
        steps.begin());
    std::size_t low = high;
    Moment later = now;
    Moment earlier = std::move(now);
    for (int tries = 0; tries < kMostMoments && (low > 0 || high < steps.size()); ++tries) {
      if (low > 0) {
        for (const std::uint32_t at = steps[low - 1].position;
             low > 0 && steps[low - 1].position == at; --low) {
          const Step& step = steps[low - 1];
          earlier[step.read].rows[step.row].version = step.before;
        }
        if (fits(earlier)) return edges_of(txn, earlier);
      }
      if (high < steps.size()) {
        for (const std::uint32_t at = steps[high].position;
             high < steps.size() && steps[high].position == at; ++high) {
          const Step& step = steps[high];
          later[step.read].rows[step.row].version = step.version;
        }
        if (fits(later)) return edges_of(txn, later);
      }
    }
    return std::nullopt;
  }

 private:
  // Calls f(key, first, last) for the keys that the read neither returned nor wrote before, and
  // that have a version that matches. It may have seen the versions from `first` to `last`.
  template <class F>
  void for_each_key(OpId id, const std::vector<std::pair<KeyId, OpId>>& own, const F& f) {
    const PredicateRead& read = h_.predicate_read(id);
    rows_.prepare(read.predicate);
    rows_.select(read.predicate, matches_);
    std::vector<KeyId> returned;
    for (const KeyVersion& row : h_.rows(read)) returned.push_back(row.key);
    std::sort(returned.begin(), returned.end());
    const TxnId txn = h_.txn_of(id);
    const std::uint32_t begun = positions_.begin[txn.index()];
    KeyId last;
    for (const auto& match : matches_) {
      if (std::exchange(last, match.key) == match.key || has_key(own, match.key)) continue;
      if (std::binary_search(returned.begin(), returned.end(), match.key)) continue;
      const auto versions = rows_.of(match.key);
      const auto behind =
          std::partition_point(versions.begin() + 1, versions.end(), [&](const auto& version) {
            return positions_.commit[o_.txn(version.write).index()] < begun;
          });
      const auto held = static_cast<std::uint32_t>(behind - versions.begin() - 1);
      f(match.key, at_begin_ ? held : 0, held);
    }
  }

  // What a predicate read sees at a moment: one version of each row that may matter to it.
  struct RowVersion {
    KeyId key;
    std::uint32_t version = 0;
  };
  struct Shown {
    OpId read;
    std::vector<std::pair<KeyId, OpId>> own;  // As written_before().
    std::vector<RowVersion> rows;
  };
  using Moment = std::vector<Shown>;
  // A commit by which a row has another version than before.
  struct Step {
    std::uint32_t position = 0;
    std::size_t read = 0;  // Into Moment.
    std::size_t row = 0;   // Into its rows.
    std::uint32_t version = 0;
    std::uint32_t before = 0;
  };
  // The commits of others that wrote the rows, in their order, of those between which the reads of
  // single keys fit.
  [[nodiscard]] std::vector<Step> steps_of(TxnId reader, const Moment& moment) const {
    const auto [first, end] = bounds(reader);
    std::vector<Step> out;
    for (std::size_t read = 0; read < moment.size(); ++read) {
      for (std::size_t row = 0; row < moment[read].rows.size(); ++row) {
        const auto versions = rows_.of(moment[read].rows[row].key);
        std::uint32_t before = 0;
        for (std::uint32_t i = 1; i < versions.size(); ++i) {
          const TxnId writer = o_.txn(versions[i].write);
          if (writer == reader) continue;
          const std::uint32_t position = positions_.commit[writer.index()];
          const std::uint32_t last = std::exchange(before, i);
          if (position > first && position < end) out.push_back({position, read, row, i, last});
        }
      }
    }
    std::sort(out.begin(), out.end(),
              [](const Step& a, const Step& b) { return a.position < b.position; });
    return out;
  }
  // The reads of single keys by a transaction fit behind the first commit and before the second.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> bounds(TxnId reader) const {
    std::pair<std::uint32_t, std::uint32_t> out{0, 0xffffffff};
    const Items& items = o_.items();
    for (ItemId i = items.first(reader); i < items.end(reader); ++i.value) {
      if (!items.is_read(i) || !o_.external(i) || rows_.of(items.key(i)).empty()) continue;
      const ItemId write = o_.write(i);
      const auto versions = rows_.of(items.key(i));
      std::uint32_t next = (write.valid() ? rows_.position(write) : 0) + 1;
      if (write.valid()) {
        out.first = std::max(out.first, positions_.commit[o_.txn(write).index()]);
      }
      while (next < versions.size() && o_.txn(versions[next].write) == reader) ++next;
      if (next >= versions.size()) continue;
      out.second = std::min(out.second, positions_.commit[o_.txn(versions[next].write).index()]);
    }
    return out;
  }
  [[nodiscard]] bool fits(const Moment& moment) const {
    return std::all_of(moment.begin(), moment.end(), [&](const Shown& shown) {
      const PredicateRead& read = h_.predicate_read(shown.read);
      PossibleResult result(h_, shown.read);
      add_own(h_, shown.read, shown.own, result);
      for (const auto& [key, version] : shown.rows) {
        const RowPart part = rows_.part(read, {key, version});
        result.add({&part, 1}, key);
      }
      return result.has_result();
    });
  }
  [[nodiscard]] std::vector<PredicateEdge> edges_of(TxnId reader, const Moment& moment) const {
    std::vector<PredicateEdge> out;
    for (const Shown& shown : moment) {
      const PredicateRead& read = h_.predicate_read(shown.read);
      for (const auto& [key, version] : shown.rows) {
        const auto versions = rows_.of(key);
        const RowPart part = rows_.part(read, {key, version});
        std::uint32_t first = version;
        while (first > 0 && rows_.part(read, {key, first - 1}) == part) --first;
        if (first > 0) out.push_back({reader, shown.read, versions[first].write, false});
        std::uint32_t next = version + 1;
        while (next < versions.size() &&
               (o_.txn(versions[next].write) == reader || rows_.part(read, {key, next}) == part)) {
          ++next;
        }
        if (next < versions.size()) {
          out.push_back({reader, shown.read, versions[next].write, true});
        }
      }
    }
    return out;
  }

  void select(OpId id, std::vector<ReadKey>& out) {
    const auto own = written_before(h_, id);
    PossibleResult mine(h_, id);
    add_own(h_, id, own, mine);
    if (!mine.has_result()) return impossible_.add(whole_, lists_, id, out);
    const PredicateId predicate = h_.predicate_read(id).predicate;
    for_each_key(id, own, [&](KeyId key, std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t i = first; i <= last; ++i) {
        if (!rows_.matches(predicate, {key, i})) return;
      }
      out.push_back({id, key});
    });
  }

  void aggregate(OpId id, std::vector<ReadKey>& out) {
    const PredicateRead& read = h_.predicate_read(id);
    if (read.result.is_unobserved()) return;
    const auto own = written_before(h_, id);
    PossibleResult result(h_, id);
    add_own(h_, id, own, result);
    std::vector<RowPart> parts;
    for_each_key(id, own, [&](KeyId key, std::uint32_t first, std::uint32_t last) {
      parts.clear();
      for (std::uint32_t i = first; i <= last; ++i) parts.push_back(rows_.part(read, {key, i}));
      result.add(parts, key);
    });
    if (result.has_result()) return;
    if (aggregates_++ >= kMostAggregates) return;
    const std::size_t before = out.size();
    add_all_keys(o_, lists_, id, out);
    if (out.size() == before) impossible_.add(whole_, lists_, id, out);
  }

  // How many aggregates become reads at a time; each may be of all keys.
  static constexpr int kMostAggregates = 8;
  // How many moments before and as many behind the one at hand place() looks at.
  static constexpr int kMostMoments = 200;

  const Observed& whole_;
  const Observed& o_;
  const History& h_;
  const Positions& positions_;
  const bool at_begin_;
  RowVersions rows_;
  const std::vector<bool> lists_;  // By key.
  std::vector<RowVersions::KeyPosition> matches_;
  Impossible impossible_;
  std::vector<TxnId> predicate_txns_;
  int aggregates_ = 0;
};

// All keys of all predicate reads of which they may have seen something. Of a key without any
// version that matches it does not matter which one a read saw.
struct AllUntold {
  std::vector<ReadKey> keys;
  bool too_many = false;
  Impossible impossible;
};
AllUntold all_untold(const Observed& o, const Budget& budget) {
  constexpr std::size_t kMost = 1'000'000;
  const History& h = o.history();
  const std::vector<bool> lists = list_keys(h);
  AllUntold out;
  BudgetTicker ticker(budget, 64);
  for (std::size_t i = 0; i < h.op_count(); ++i) {
    const OpId id{i};
    if (!has_condition(h.op(id).kind) || h.status(h.txn_of(id)) == TxnStatus::Aborted) continue;
    out.too_many = out.keys.size() > kMost;
    if (ticker.tick() || out.too_many) return out;
    const std::size_t before = out.keys.size();
    add_all_keys(o, lists, id, out.keys);
    PossibleResult mine(h, id);
    add_own(h, id, written_before(h, id), mine);
    const bool select = h.op(id).kind == OpKind::Select;
    const bool alone = select || out.keys.size() == before;
    const bool known = select || !h.predicate_read(id).result.is_unobserved();
    if (alone && known && !mine.has_result()) out.impossible.add(o, lists, id, out.keys);
  }
  return out;
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
  bool renew(const Observed& observed, Replay& replay, std::vector<ReadKey>& keys,
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

// How far to go: only guess, and give up where that does not help; or find out.
enum class Effort : bool { Guess, All };

// Levels at which a predicate read has a moment in the order that was found. Reads that do not fit
// there are first moved to a moment where they do, by edges that are a guess. Keys of those that
// have none near by become reads.
Verdict decide_in_order(Observed& observed, Level level, const DecideReads& decide,
                        const Budget& budget, const CheckOptions& options, Effort effort) {
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
    Replay replay(observed, all_there, positions, rules(level).phantoms_count());
    auto misfits = replay.misfits(budget);
    if (budget.exhausted()) return Verdict{.level = level};
    if (replay.impossible().valid()) return impossible_read(now, level, replay.impossible());
    if (misfits.empty()) {
      drop_untold_sources(observed, verdict);
      return verdict;
    }
    std::vector<ReadKey> keys = misfits;
    const bool grew = guess.renew(all_there, replay, keys, budget);
    std::vector<ReadKey> more;
    std::set_union(untold.begin(), untold.end(), keys.begin(), keys.end(),
                   std::back_inserter(more));
    const bool gives_up = !keys.empty() || !grew;
    if (effort == Effort::Guess && gives_up) return Verdict{.level = level};
    if (more.size() > untold.size()) {
      untold = std::move(more);
      auto next = observed.with_untold(untold, budget, options.threads);
      if (!next.ok()) return undecided(level, next.error().what);
      again = *std::move(next);
    } else if (!grew && guess.empty()) {
      // A key that is a read fits every order that is found. If not, that would be a bug, but no
      // reason to say holds.
      return undecided(level, fmt::format("{}: no order was found that gives what it returned",
                                          now.history().place(misfits[0].read).to_string()));
    } else if (!grew) {
      guess.drop();
    }
  }
}

// As decide_in_order(). If the strongest level of the family holds, that is the answer: sessions
// and real time leave few orders, and what a database did is mostly among them.
Verdict decide_with_moments(Observed& observed, Level level, const DecideReads& decide,
                            const Budget& budget, const CheckOptions& options) {
  const Level strongest = rules(level).begins_apart() ? Level::StrongSi : Level::StrictSerializable;
  if (level != strongest && implies(strongest, level)) {
    const Verdict stronger =
        decide_in_order(observed, strongest, decide, budget, options, Effort::Guess);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  return decide_in_order(observed, level, decide, budget, options, Effort::All);
}

}  // namespace

Verdict decide_untold(Observed& observed, Level level, const DecideReads& decide,
                      const Budget& budget, const CheckOptions& options) {
  const bool has_order =
      !rules(level).is(LevelFamily::CommitOrder) && !rules(level).is(LevelFamily::Parallel);
  if (has_order) return decide_with_moments(observed, level, decide, budget, options);
  // Without a moment, any version may be seen of which the level allows it. What a stronger level
  // allows, this one does.
  if (implies(Level::SessionSi, level)) {
    const Verdict stronger =
        decide_with_moments(observed, Level::SessionSi, decide, budget, options);
    if (stronger.outcome == Outcome::Holds) return weakened(stronger, level);
  }
  const AllUntold untold = all_untold(observed, budget);
  if (budget.exhausted()) return Verdict{.level = level};
  if (untold.too_many) {
    return undecided(level, "predicate reads may have seen too many versions of too many keys");
  }
  const OpId impossible = untold.impossible.read;
  if (impossible.valid()) return impossible_read(observed, level, impossible);
  auto all = observed.with_untold(untold.keys, budget, options.threads);
  if (!all.ok()) return undecided(level, all.error().what);
  Verdict verdict = decide(*all, level);
  verdict.untold = untold.keys;
  return verdict;
}

std::vector<PredicateFlaw> impossible_results(const Observed& o) {
  std::vector<PredicateFlaw> out;
  const History& h = o.history();
  const Items& items = o.items();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (!o.counted(TxnId{t})) continue;
    for (ItemId i = items.first(TxnId{t}); i < items.end(TxnId{t});) {
      const OpId op = items.op(i);
      if (!items.is_untold(i)) {
        ++i.value;
        continue;
      }
      const PredicateRead& read = h.predicate_read(op);
      const bool select = h.op(op).kind == OpKind::Select;
      const auto own = written_before(h, op);
      PossibleResult result(h, op);
      add_own(h, op, own, result);
      for (; i < items.end(TxnId{t}) && items.op(i) == op; ++i.value) {
        if (select || has_key(own, items.key(i))) continue;
        std::vector<RowPart> parts;
        if (o.external(i)) {
          parts.push_back(part_of(o, read, items.key(i), o.write(i)));
        } else {
          for (const ItemId write : o.candidates(i)) {
            parts.push_back(part_of(o, read, items.key(i), write));
          }
        }
        result.add(parts, items.key(i));
      }
      if ((!select && read.result.is_unobserved()) || result.has_result()) continue;
      out.push_back({AnomalyKind::ResultSetMismatch, op, {}, {}});
    }
  }
  return out;
}

}  // namespace ouro
