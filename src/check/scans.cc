#include "check/scans.h"

#include <algorithm>
#include <utility>

#include "history/access.h"
#include "history/commuting.h"

namespace ouro {

Scans::Scans(const Observed& observed)
    : o_(observed), h_(observed.history()), keys_(h_), rank_(h_.key_count()) {
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const bool scan = h_.op(OpId{i}).kind == OpKind::Scan && has_untold_keys(h_, OpId{i});
    if (scan && h_.status(h_.txn_of(OpId{i})) != TxnStatus::Aborted) scans_.emplace_back(i);
  }
  if (scans_.empty()) return;
  const auto all = keys_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    rank_[all[i].index()] = static_cast<std::uint32_t>(i);
  }
  const std::vector<bool> lists = o_.rows().all() ? list_keys(h_) : o_.rows().listed->lists();
  rows_.assign(h_.key_count(), false);
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    if (!lists[k]) rows_[k] = o_.is_listed(KeyId{k}, {});
  }
  const Items& items = o_.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ItemId item{i};
    if (!items.is_write(item) || h_.status(o_.txn(item)) == TxnStatus::Aborted) continue;
    const KeyId key = items.key(item);
    if (!lists[key.index()] && o_.is_listed(key, item)) rows_[key.index()] = true;
  }
}

// The rows that are there at a moment, by their places among the keys: a tree of counts (Fenwick).
class Scans::Present {
 public:
  explicit Present(std::size_t keys) : there_(keys, false), counts_(keys + 1, 0) {
    while (top_ * 2 <= keys) top_ *= 2;
  }

  [[nodiscard]] bool has(std::size_t rank) const { return there_[rank]; }
  void set(std::size_t rank, bool there) {
    if (there_[rank] == there) return;
    there_[rank] = there;
    for (std::size_t i = rank + 1; i < counts_.size(); i += i & (~i + 1)) {
      counts_[i] += there ? 1 : ~std::uint32_t{0};
    }
  }
  // How many rows have a smaller rank.
  [[nodiscard]] std::uint32_t before(std::size_t rank) const {
    std::uint32_t out = 0;
    for (std::size_t i = rank; i > 0; i -= i & (~i + 1)) out += counts_[i];
    return out;
  }
  // The rank of the row that has `count` rows before it. REQUIRES: there is one.
  [[nodiscard]] std::size_t find(std::uint32_t count) const {
    std::size_t at = 0;
    for (std::size_t step = top_; step > 0; step /= 2) {
      if (at + step >= counts_.size() || counts_[at + step] > count) continue;
      at += step;
      count -= counts_[at];
    }
    return at;
  }

 private:
  std::vector<bool> there_;
  std::vector<std::uint32_t> counts_;
  std::size_t top_ = 1;  // The greatest power of two that is no more than the number of keys.
};

std::vector<KeyId> Scans::told(OpId scan) const {
  std::vector<KeyId> out = own_absences(h_, keys_, scan);
  for (const KeyVersion& row : h_.rows(h_.predicate_read(scan))) {
    if (!row.value.is_null()) out.push_back(row.key);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Runs an order, and compares one scan after the other.
class Scans::Comparison {
 public:
  Comparison(const Scans& scans, const Observed& observed, const Positions& positions,
             bool phantoms, MisfitRows wanted)
      : s_(scans),
        h_(scans.h_),
        o_(observed),
        positions_(positions),
        phantoms_(phantoms),
        wanted_(wanted),
        present_(scans.keys_.all().size()),
        always_(phantoms ? scans.keys_.all().size() : 0),
        now_(h_.key_count()),
        holder_(h_.key_count()),
        initial_until_(h_.key_count(), kNever) {
    for (std::size_t k = 0; k < now_.size(); ++k) {
      now_[k].rank = s_.rank_[k];
      if (!s_.rows_[k] || !o_.is_listed(KeyId{k}, {})) continue;
      now_[k].value = h_.initial(KeyId{k});
      present_.set(now_[k].rank, true);
      if (phantoms_) always_.set(now_[k].rank, true);
    }
    if (!o_.rows().all()) until_.assign(o_.items().size(), kNever);
  }

  ScanMisfits run(const Budget& budget) {
    const std::vector<OpId> scans = by_begin();
    const std::vector<TxnId> commits = by_commit();
    BudgetTicker ticker(budget, 64);
    auto next = commits.begin();
    std::uint64_t rows = 0;
    for (const OpId scan : scans) {
      if (ticker.tick()) return {};
      const TxnId txn = h_.txn_of(scan);
      const std::uint32_t begun = positions_.begin[txn.index()];
      for (; next != commits.end() && positions_.commit[next->index()] < begun; ++next) {
        commit(*next);
      }
      if (std::exchange(txn_, txn) != txn) end_txn();
      compare(scan, begun);
      rows += h_.predicate_read(scan).row_count;
    }
    end_txn();
    budget.charge(rows / 4);
    std::sort(out_.missed.begin(), out_.missed.end());
    std::sort(out_.returned.begin(), out_.returned.end());
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kNever = 0xffffffff;
  struct Now {
    Value value;  // Null: no row.
    std::uint32_t rank = 0;
  };
  struct Bound {
    ScanRow row;
    std::uint32_t position = 0;
  };

  // The scans of transactions that take part, those of a transaction one after the other.
  [[nodiscard]] std::vector<OpId> by_begin() const {
    std::vector<OpId> out;
    for (const OpId scan : s_.scans_) {
      if (o_.counted(h_.txn_of(scan))) out.push_back(scan);
    }
    std::stable_sort(out.begin(), out.end(), [&](OpId a, OpId b) {
      return positions_.begin[h_.txn_of(a).index()] < positions_.begin[h_.txn_of(b).index()];
    });
    return out;
  }
  [[nodiscard]] std::vector<TxnId> by_commit() const {
    std::vector<TxnId> out;
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (o_.counted(TxnId{t})) out.emplace_back(t);
    }
    std::sort(out.begin(), out.end(), [&](TxnId a, TxnId b) {
      return positions_.commit[a.index()] < positions_.commit[b.index()];
    });
    return out;
  }

  void commit(TxnId txn) {
    const Items& items = o_.items();
    for (ItemId item = items.first(txn); item < items.end(txn); ++item.value) {
      if (!items.is_write(item) || !o_.final(item)) continue;
      const std::size_t key = items.key(item).index();
      if (!s_.rows_[key]) continue;
      const bool listed = o_.is_listed(KeyId{key}, item);
      present_.set(now_[key].rank, listed);
      if (phantoms_ && !listed) always_.set(now_[key].rank, false);
      now_[key].value = listed ? items.value(item) : Value::null();
      const ItemId before = std::exchange(holder_[key], item);
      if (until_.empty()) continue;
      (before.valid() ? until_[before.index()] : initial_until_[key]) =
          positions_.commit[txn.index()];
    }
  }

  void compare(OpId scan, std::uint32_t begun) {
    const auto within = s_.range(scan);
    const auto first = static_cast<std::size_t>(within.data() - s_.keys_.all().data());
    const std::size_t end = first + within.size();
    const bool in_order = compare_rows(scan, first, end, begun);
    const bool whole = !set_read(h_, OpKind::Scan, h_.predicate_read(scan)).empty();
    if (phantoms_ && !whole) return find_missed(scan, always_, first, end);
    if (in_order) {
      for (const KeyId key : own_absences(h_, s_.keys_, scan)) {
        if (present_.has(s_.rank_[key.index()])) ++there_;
      }
      if (there_ == present_.before(end) - present_.before(first)) return;
    }
    find_missed(scan, present_, first, end);
  }

  // Compares the rows that a scan returned, and counts in there_ those whose key has a row. Returns
  // whether they are in the order of keys and in the range.
  bool compare_rows(OpId scan, std::size_t first, std::size_t end, std::uint32_t begun) {
    const bool judged = !o_.rows().all();
    const auto rows = h_.rows(h_.predicate_read(scan));
    std::size_t next = first;  // The least rank that the next row may have.
    bool in_order = true;
    there_ = 0;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const auto& [key, value] = rows[i];
      const Now& now = now_[key.index()];
      if (value.is_null()) continue;
      in_order &= now.rank >= next;
      next = now.rank + 1;
      if (now.value == value) {
        ++there_;
        continue;
      }
      if (!now.value.is_null()) ++there_;
      if (judged) misfit({scan, i}, key, value, begun);
    }
    return in_order && next <= end;
  }

  void misfit(ScanRow row, KeyId key, Value value, std::uint32_t begun) {
    const ListedRows& listed = *o_.rows().listed;
    const auto needed = listed.needed();
    if (std::binary_search(needed.begin(), needed.end(), row)) return;
    if (wanted_ == MisfitRows::All) {
      out_.returned.push_back(row);
      return;
    }
    const TxnId writer = listed.writer(key, value);
    if (writer != kInitialTxn && positions_.commit[writer.index()] >= begun) {
      const std::uint32_t written = positions_.commit[writer.index()];
      if (!newest_.row.scan.valid() || written > newest_.position) newest_ = {row, written};
      return;
    }
    const std::uint32_t until = writer == kInitialTxn
                                    ? initial_until_[key.index()]
                                    : until_[final_write(o_, writer, key).index()];
    if (!oldest_.row.scan.valid() || until < oldest_.position) oldest_ = {row, until};
  }

  // Notes the rows of the transaction whose last scan was compared.
  void end_txn() {
    for (Bound* bound : {&newest_, &oldest_}) {
      if (bound->row.scan.valid()) out_.returned.push_back(bound->row);
      *bound = {};
    }
  }

  // Adds the rows of `present` that the scan did not list.
  void find_missed(OpId scan, const Present& present, std::size_t first, std::size_t end) {
    const std::uint32_t before = present.before(first);
    const std::uint32_t behind = present.before(end);
    if (before == behind) return;
    const std::vector<KeyId> known = s_.told(scan);
    const auto there = std::count_if(known.begin(), known.end(), [&](KeyId key) {
      const std::size_t rank = s_.rank_[key.index()];
      return rank >= first && rank < end && present.has(rank);
    });
    if (static_cast<std::uint32_t>(there) == behind - before) return;
    for (std::uint32_t i = before; i < behind; ++i) {
      const KeyId key = s_.keys_.all()[present.find(i)];
      if (!std::binary_search(known.begin(), known.end(), key)) out_.missed.push_back({scan, key});
    }
  }

  const Scans& s_;
  const History& h_;
  const Observed& o_;
  const Positions& positions_;
  const bool phantoms_;
  const MisfitRows wanted_;
  Present present_;  // The rows that are there.
  Present always_;   // Those that have always been there; if phantoms are allowed.
  std::vector<Now> now_;                      // By key, as the next two.
  std::vector<ItemId> holder_;                // The write of the version that is there.
  std::vector<std::uint32_t> initial_until_;  // The position of the commit that overwrote it.
  std::vector<std::uint32_t> until_;          // The same, by write. Empty: nobody asks.
  std::uint32_t there_ = 0;
  TxnId txn_;     // Of the last scan.
  Bound newest_;  // Rows of it that do not fit; see ScanMisfits.
  Bound oldest_;
  ScanMisfits out_;
};

ScanMisfits Scans::compare(const Observed& observed, const Positions& positions, bool phantoms,
                           MisfitRows rows, const Budget& budget) const {
  if (scans_.empty()) return {};
  return Comparison(*this, observed, positions, phantoms, rows).run(budget);
}

void Scans::add_keys(OpId scan, std::vector<ReadKey>& out) const {
  const std::vector<KeyId> known = told(scan);
  const std::size_t before = out.size();
  for (const KeyId key : range(scan)) {
    if (!rows_[key.index()] || std::binary_search(known.begin(), known.end(), key)) continue;
    out.push_back({scan, key});
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

}  // namespace ouro
