#include "check/outcomes.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "check/observed/likely_order.h"
#include "check/predicates/possible_result.h"
#include "check/untold_keys.h"
#include "check/versions/read_parts.h"
#include "history/access.h"
#include "history/commuting.h"
#include "history/sorted_keys.h"

namespace ouro {
namespace {

using Line = std::uint32_t;
constexpr Line kOldest = 16;                // What is seen is at most so many lines old.
constexpr std::size_t kMostSuspects = 12;   // Unknown transactions that are tried at a time,
constexpr std::size_t kMostInThrees = 6;    // and where three are tried together.
constexpr std::size_t kRecentChoices = 24;  // A predicate read suspects some of so many.

class Outcomes {
 public:
  Outcomes(const Observed& observed, bool earlier, const Budget& budget)
      : o_(observed),
        h_(observed.history()),
        earlier_(earlier),
        ticker_(budget, 256, 20),
        keys_(h_),
        lists_(list_keys(h_)),
        took_(h_.txn_count(), false),
        is_choice_(h_.txn_count(), false),
        is_misfit_(h_.txn_count(), false),
        line_of_(h_.txn_count(), 0),
        place_(h_.txn_count(), 0),
        writers_(h_.key_count()),
        versions_(h_.key_count()),
        is_open_(o_.items().size(), false) {
    for (const ItemId read : o_.open_reads()) is_open_[read.index()] = true;
    for (const Node node : likely_commit_order(h_, budget)) {
      if (h_.status(TxnId{node}) != TxnStatus::Aborted) add_line(TxnId{node});
    }
  }

  [[nodiscard]] bool has_choices() const { return !choices_.empty(); }

  std::optional<GuessedOutcomes> run() {
    for (Line line = 0; line < lines_.size(); ++line) {
      if (ticker_.stopped()) return std::nullopt;
      const TxnId txn = lines_[line];
      if (!took_[txn.index()] || settle(line)) {
        perform(line);
        continue;
      }
      if (repair(line)) continue;
      is_misfit_[txn.index()] = true;
      look_back(line);
      perform(line);
    }
    return ticker_.stopped() ? std::nullopt : std::optional(told());
  }

 private:
  struct Version {
    Line line = 0;  // Of its writer.
    ItemId write;
  };
  // A read of a key, or a predicate read, that saw something else.
  struct Misfit {
    ItemId item;  // Invalid: `predicate`.
    OpId predicate;
  };

  void add_line(TxnId txn) {
    const auto line = static_cast<Line>(lines_.size());
    line_of_[txn.index()] = line;
    lines_.push_back(txn);
    took_[txn.index()] = o_.counted(txn);
    if (o_.counted(txn)) return;
    for_each_write(txn, [&](KeyId key, ItemId write) {
      writers_[key.index()].push_back({line, write});
      is_choice_[txn.index()] = true;
    });
    if (is_choice_[txn.index()]) choices_.push_back(line);
  }

  template <class F>
  void for_each_write(TxnId txn, const F& f) const {
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (o_.items().is_write(i) && o_.final(i)) f(o_.items().key(i), i);
    }
  }

  // The last version of a key that was written before a line; the initial one has no write.
  [[nodiscard]] Version at(KeyId key, Line line) const {
    const auto& versions = versions_[key.index()];
    for (std::size_t v = versions.size(); v-- > 0;) {
      if (versions[v].line < line) return versions[v];
    }
    return {};
  }
  [[nodiscard]] Value value(KeyId key, ItemId write) const {
    return write.valid() ? o_.items().value(write) : h_.initial(key);
  }

  // ---- whether reads fit ----

  [[nodiscard]] bool is_asked(ItemId item) const {
    return o_.items().is_read(item) && (is_open_[item.index()] || o_.external(item));
  }
  [[nodiscard]] bool fits(ItemId read, ItemId write) const {
    return is_open_[read.index()] ? o_.fits(read, write) : o_.write(read) == write;
  }

  // Calls f(misfit) for the reads of a transaction that do not fit if it sees what was written
  // before `line`, until f returns false.
  template <class F>
  void for_each_misfit(TxnId txn, Line line, const F& f) const {
    for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
      if (!is_asked(i) || fits(i, at(o_.items().key(i), line).write)) continue;
      if (!f(Misfit{i, {}})) return;
    }
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (!is_predicate_read(h_.op(id).kind) || !has_untold_keys(h_, id)) continue;
      if (!predicate_fits(id, line) && !f(Misfit{{}, id})) return;
    }
    ticker_.tick(1 + (o_.items().end(txn).value - o_.items().first(txn).value) / 16);
  }
  [[nodiscard]] bool all_fits(TxnId txn, Line line) const {
    bool fit = true;
    for_each_misfit(txn, line, [&](const Misfit&) { return fit = false; });
    return fit;
  }

  [[nodiscard]] bool predicate_fits(OpId id, Line line) const {
    const PredicateRead& read = h_.predicate_read(id);
    const bool scan = h_.op(id).kind == OpKind::Scan;
    const auto own = written_before(h_, id);
    std::vector<KeyId> returned;
    for (const KeyVersion& row : h_.rows(read)) {
      if (row.value.is_null()) continue;
      returned.push_back(row.key);
      if (!has_key(own, row.key) && value(row.key, at(row.key, line).write) != row.value) {
        return false;
      }
    }
    std::sort(returned.begin(), returned.end());
    const auto told = [&](KeyId key) {
      return lists_[key.index()] || has_key(own, key) ||
             std::binary_search(returned.begin(), returned.end(), key);
    };
    if (scan) {
      const auto range = keys_.between(read.lower, read.upper);
      ticker_.tick(static_cast<std::uint32_t>(1 + range.size() / 16));
      return std::none_of(range.begin(), range.end(), [&](KeyId key) {
        return !told(key) && o_.is_listed(key, at(key, line).write);
      });
    }
    if (h_.op(id).kind == OpKind::Aggregate && read.result.is_unobserved()) return true;
    PossibleResult result(h_, id);
    add_own(h_, id, own, result);
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      if (told(KeyId{k})) continue;
      const RowPart part = part_of(o_, read, KeyId{k}, at(KeyId{k}, line).write);
      if (part.counts) result.add({&part, 1}, KeyId{k});
    }
    ticker_.tick(static_cast<std::uint32_t>(1 + h_.key_count() / 4));
    return result.has_result();
  }

  // ---- playing ----

  void perform(Line line) {
    if (!took_[lines_[line].index()]) return;
    for_each_write(lines_[line], [&](KeyId key, ItemId write) {
      versions_[key.index()].push_back({line, write});
    });
  }
  // Takes back all that was performed from `first` to `end`.
  void take_back(Line first, Line end) {
    for (Line line = end; line-- > first;) {
      if (!took_[lines_[line].index()]) continue;
      for_each_write(lines_[line], [&](KeyId key, ItemId) { versions_[key.index()].pop_back(); });
    }
  }
  // Whether the transaction of a line fits; then it has its place.
  bool settle(Line line) {
    const TxnId txn = lines_[line];
    place_[txn.index()] = line;
    return all_fits(txn, line) || (earlier_ && look_back(line));
  }
  // The same with what was there some lines earlier.
  bool look_back(Line line) {
    const TxnId txn = lines_[line];
    for (Line past = line; past-- > 0 && past + kOldest >= line;) {
      if (!took_[lines_[past].index()] || !all_fits(txn, past)) continue;
      place_[txn.index()] = past;
      return true;
    }
    return false;
  }

  // ---- what explains a misfit ----

  // Tries to explain why the transaction of `line` does not fit. If that helps, it is performed.
  bool repair(Line line) {
    std::vector<TxnId> suspects;
    for_each_misfit(lines_[line], line, [&](const Misfit& misfit) {
      suspect(misfit, line, suspects);
      return suspects.size() < kMostSuspects;
    });
    if (suspects.size() > kMostSuspects) suspects.resize(kMostSuspects);
    const std::size_t n = suspects.size();
    for (std::size_t a = 0; a < n; ++a) {
      if (flip({suspects[a]}, line)) return true;
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        if (flip({suspects[a], suspects[b]}, line)) return true;
      }
    }
    const std::size_t few = std::min(n, kMostInThrees);
    for (std::size_t a = 0; a < few; ++a) {
      for (std::size_t b = a + 1; b < few; ++b) {
        for (std::size_t c = b + 1; c < few; ++c) {
          if (flip({suspects[a], suspects[b], suspects[c]}, line)) return true;
        }
      }
    }
    return false;
  }

  void add_suspect(TxnId txn, std::vector<TxnId>& suspects) const {
    if (!is_choice_[txn.index()]) return;
    const bool known = std::find(suspects.begin(), suspects.end(), txn) != suspects.end();
    if (!known) suspects.push_back(txn);
  }
  // Unknown transactions of which it may matter to a read whether they took effect, the last first.
  void suspect(const Misfit& misfit, Line line, std::vector<TxnId>& suspects) const {
    if (misfit.item.valid()) return suspect_writers(o_.items().key(misfit.item), line, suspects);
    const PredicateRead& read = h_.predicate_read(misfit.predicate);
    const auto before = std::lower_bound(choices_.begin(), choices_.end(), line);
    std::size_t left = kRecentChoices;
    for (auto at = before; at != choices_.begin() && left-- > 0;) {
      const TxnId txn = lines_[*--at];
      for_each_write(txn, [&](KeyId key, ItemId write) {
        if (lists_[key.index()] || !may_matter(misfit.predicate, read, key)) return;
        const Version now = this->at(key, line);
        if (took_[txn.index()] ? now.write == write : !now.write.valid() || now.line < *at) {
          add_suspect(txn, suspects);
        }
      });
    }
  }
  void suspect_writers(KeyId key, Line line, std::vector<TxnId>& suspects) const {
    const Version now = at(key, line);
    const auto& writers = writers_[key.index()];
    for (std::size_t w = writers.size(); w-- > 0 && suspects.size() < kMostSuspects;) {
      if (writers[w].line >= line) continue;
      if (now.write.valid() && writers[w].line < now.line) break;
      add_suspect(lines_[writers[w].line], suspects);
    }
  }
  [[nodiscard]] bool may_matter(OpId id, const PredicateRead& read, KeyId key) const {
    return h_.op(id).kind != OpKind::Scan || keys_.is_between(key, read.lower, read.upper);
  }

  // Whether all fit up to `line` if these outcomes are the opposite. If so, they are.
  bool flip(std::initializer_list<TxnId> txns, Line line) {
    Line first = line;
    for (const TxnId txn : txns) first = std::min(first, line_of_[txn.index()]);
    const auto turn = [&] {
      for (const TxnId txn : txns) took_[txn.index()] = !took_[txn.index()];
    };
    take_back(first, line);
    turn();
    Line at = first;
    bool fit = true;
    for (; at <= line; ++at) {
      const TxnId txn = lines_[at];
      fit = ticker_.stopped() || !took_[txn.index()] || is_misfit_[txn.index()] || settle(at);
      if (!fit) break;
      perform(at);
    }
    if (fit) return true;
    take_back(first, at);
    turn();
    for (at = first; at < line; ++at) {
      if (took_[lines_[at].index()] && !is_misfit_[lines_[at].index()]) settle(at);
      perform(at);
    }
    return false;
  }

  // ---- the result ----

  // Who read what an unknown transaction wrote.
  struct Witness {
    TxnId reader;
    TxnId writer;
    ReadKey untold;  // The operation is invalid if the read is an open one.
  };

  // An open read in the final order: the version before its place, or the last one that fits.
  [[nodiscard]] std::optional<ItemId> source_of(ItemId read) const {
    const TxnId txn = o_.txn(read);
    const auto& versions = versions_[o_.items().key(read).index()];
    for (std::size_t v = versions.size(); v-- > 0;) {
      const bool before = versions[v].line < place_[txn.index()];
      if (before && o_.fits(read, versions[v].write)) return versions[v].write;
    }
    if (o_.fits(read, {})) return ItemId{};
    return std::nullopt;
  }

  [[nodiscard]] GuessedOutcomes told() {
    std::vector<Witness> witnesses;
    std::vector<std::pair<ItemId, ReadSource>> sources;
    for (const ItemId read : o_.open_reads()) {
      const TxnId txn = o_.txn(read);
      if (!took_[txn.index()]) continue;
      const auto write = source_of(read);
      if (!write) continue;
      const TxnId writer = write->valid() ? o_.txn(*write) : kInitialTxn;
      sources.push_back({read, {o_.items().op(read), o_.items().key(read), writer}});
      if (writer != kInitialTxn && is_choice_[writer.index()]) {
        witnesses.push_back({txn, writer, {}});
      }
    }
    add_plain_witnesses(witnesses);
    const std::size_t open = witnesses.size();
    add_predicate_witnesses(witnesses);
    std::stable_partition(witnesses.begin() + static_cast<std::ptrdiff_t>(open), witnesses.end(),
                          [&](const Witness& seen) { return !is_aggregate(seen.untold.read); });
    return taking_part(sources, witnesses, open);
  }

  // Reads that are not open, by unknown transactions.
  void add_plain_witnesses(std::vector<Witness>& witnesses) const {
    for (const Line line : choices_) {
      const TxnId txn = lines_[line];
      if (!took_[txn.index()]) continue;
      for (ItemId i = o_.items().first(txn); i < o_.items().end(txn); ++i.value) {
        if (!o_.items().is_read(i) || is_open_[i.index()] || !o_.external(i)) continue;
        const TxnId writer = o_.writer(i);
        if (writer != kInitialTxn && is_choice_[writer.index()]) {
          witnesses.push_back({txn, writer, {}});
        }
      }
    }
  }
  void add_predicate_witnesses(std::vector<Witness>& witnesses) const {
    for (const TxnId txn : lines_) {
      if (!took_[txn.index()] || is_misfit_[txn.index()]) continue;
      for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
        if (is_predicate_read(h_.op(id).kind) && has_untold_keys(h_, id)) {
          add_predicate_witnesses(txn, id, witnesses);
        }
      }
    }
  }
  void add_predicate_witnesses(TxnId txn, OpId id, std::vector<Witness>& witnesses) const {
    const PredicateRead& read = h_.predicate_read(id);
    const auto own = written_before(h_, id);
    const auto rows = h_.rows(read);
    for (const Line line : choices_) {
      const TxnId writer = lines_[line];
      if (line >= place_[txn.index()]) break;
      if (!took_[writer.index()] || writer == txn) continue;
      for_each_write(writer, [&](KeyId key, ItemId write) {
        if (lists_[key.index()] || has_key(own, key) || !may_matter(id, read, key)) return;
        if (at(key, place_[txn.index()]).write != write) return;
        const bool is_row = std::any_of(rows.begin(), rows.end(),
                                        [&](const KeyVersion& row) { return row.key == key; });
        if (!is_row) witnesses.push_back({txn, writer, {id, key}});
      });
    }
  }

  [[nodiscard]] bool is_aggregate(OpId id) const { return h_.op(id).kind == OpKind::Aggregate; }
  // What an aggregate saw of a key is judged together with all others.
  void add_whole(OpId id, std::vector<bool>& part, GuessedOutcomes& out) {
    const auto known = std::find_if(out.untold.begin(), out.untold.end(),
                                    [&](const ReadKey& each) { return each.read == id; });
    if (known != out.untold.end()) return;
    std::vector<ReadKey> keys;
    if (!written_) written_.emplace(written_rows(o_, lists_));
    add_all_keys(o_, *written_, id, keys);
    for (const ReadKey& each : keys) {
      const ItemId write = at(each.key, place_[h_.txn_of(id).index()]).write;
      const TxnId writer = write.valid() ? o_.txn(write) : kInitialTxn;
      if (writer != kInitialTxn) part[writer.index()] = true;
      out.untold.push_back(each);
      out.sources.push_back({each.read, each.key, writer});
    }
  }

  // Leaves out what transactions saw that take no part, as nobody saw what they wrote.
  [[nodiscard]] GuessedOutcomes taking_part(
      const std::vector<std::pair<ItemId, ReadSource>>& sources,
      const std::vector<Witness>& witnesses, std::size_t open) {
    std::vector<bool> part(h_.txn_count());
    for (std::size_t t = 0; t < part.size(); ++t) part[t] = o_.counted(TxnId{t});
    GuessedOutcomes out;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t w = 0; w < witnesses.size(); ++w) {
        const Witness& seen = witnesses[w];
        if (!part[seen.reader.index()] || part[seen.writer.index()]) continue;
        part[seen.writer.index()] = again = true;
        if (w < open) continue;
        if (is_aggregate(seen.untold.read)) {
          add_whole(seen.untold.read, part, out);
        } else {
          out.untold.push_back(seen.untold);
          out.sources.push_back({seen.untold.read, seen.untold.key, seen.writer});
        }
      }
    }
    const auto counts = [&](TxnId txn) { return txn == kInitialTxn || part[txn.index()]; };
    for (const auto& [read, source] : sources) {
      if (!counts(o_.txn(read)) || !counts(source.writer)) continue;
      if (!is_misfit_[o_.txn(read).index()]) {
        out.sources.push_back(source);
        continue;
      }
      // Better searched for, if only those may have written it that take part.
      const auto from = o_.candidates(read);
      const bool all = std::all_of(from.begin(), from.end(), [&](ItemId write) {
        return !write.valid() || counts(o_.txn(write));
      });
      if (!all) out.sources.push_back(source);
    }
    std::sort(out.untold.begin(), out.untold.end());
    std::sort(out.sources.begin(), out.sources.end());
    return out;
  }

  const Observed& o_;
  const History& h_;
  const bool earlier_;
  mutable BudgetTicker ticker_;
  const SortedKeys keys_;
  const std::vector<bool> lists_;       // By key.
  std::optional<WrittenRows> written_;  // Once an aggregate asks for them.
  std::vector<TxnId> lines_;            // All that may take part, as they were recorded.
  // By transaction:
  std::vector<bool> took_;       // Whether it takes effect, as far as is known.
  std::vector<bool> is_choice_;  // Whether that is open.
  std::vector<bool> is_misfit_;  // It does not fit, and nothing explains why.
  std::vector<Line> line_of_;
  std::vector<Line> place_;                     // It sees what was written before that line.
  std::vector<Line> choices_;                   // The lines of those whose effect is open.
  std::vector<std::vector<Version>> writers_;   // By key: what those wrote.
  std::vector<std::vector<Version>> versions_;  // By key: what was performed.
  std::vector<bool> is_open_;                   // By item.
};

}  // namespace

std::optional<GuessedOutcomes> guess_outcomes(const Observed& observed, bool earlier,
                                              const Budget& budget) {
  const History& h = observed.history();
  if (observed.open_reads().empty() && !has_untold_keys(h)) return std::nullopt;
  bool any = false;
  for (std::size_t t = 0; t < h.txn_count() && !any; ++t) {
    any = h.status(TxnId{t}) == TxnStatus::Unknown && !observed.counted(TxnId{t});
  }
  if (!any || !observed.items().sums().empty() || !observed.open_elements().empty()) {
    return std::nullopt;
  }
  Outcomes outcomes(observed, earlier, budget);
  return outcomes.has_choices() ? outcomes.run() : std::nullopt;
}

}  // namespace ouro
