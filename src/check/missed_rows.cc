#include "check/missed_rows.h"

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
  const std::vector<bool> lists = list_keys(h_);
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

std::vector<ReadKey> Scans::missed(const Observed& observed, const Positions& positions,
                                   bool phantoms, const Budget& budget) const {
  std::vector<ReadKey> out;
  std::vector<OpId> scans;
  for (const OpId scan : scans_) {
    if (observed.counted(h_.txn_of(scan))) scans.push_back(scan);
  }
  std::stable_sort(scans.begin(), scans.end(), [&](OpId a, OpId b) {
    return positions.begin[h_.txn_of(a).index()] < positions.begin[h_.txn_of(b).index()];
  });
  std::vector<TxnId> commits;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (observed.counted(TxnId{t})) commits.emplace_back(t);
  }
  std::sort(commits.begin(), commits.end(), [&](TxnId a, TxnId b) {
    return positions.commit[a.index()] < positions.commit[b.index()];
  });
  Present now(keys_.all().size());
  Present always(phantoms ? keys_.all().size() : 0);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const bool listed = rows_[k] && observed.is_listed(KeyId{k}, {});
    now.set(rank_[k], listed);
    if (phantoms) always.set(rank_[k], listed);
  }
  BudgetTicker ticker(budget, 64);
  const Items& items = observed.items();
  auto next = commits.begin();
  for (const OpId scan : scans) {
    if (ticker.tick()) return {};
    const std::uint32_t begun = positions.begin[h_.txn_of(scan).index()];
    for (; next != commits.end() && positions.commit[next->index()] < begun; ++next) {
      for (ItemId item = items.first(*next); item < items.end(*next); ++item.value) {
        if (!items.is_write(item) || !observed.final(item)) continue;
        const KeyId key = items.key(item);
        if (!rows_[key.index()]) continue;
        const bool listed = observed.is_listed(key, item);
        now.set(rank_[key.index()], listed);
        if (phantoms && !listed) always.set(rank_[key.index()], false);
      }
    }
    const bool whole = !set_read(h_, OpKind::Scan, h_.predicate_read(scan)).empty();
    const Present& present = phantoms && !whole ? always : now;
    const auto within = range(scan);
    const auto first = static_cast<std::size_t>(within.data() - keys_.all().data());
    const std::uint32_t before = present.before(first);
    const std::uint32_t end = present.before(first + within.size());
    const std::vector<KeyId> known = told(scan);
    const auto there = std::count_if(known.begin(), known.end(), [&](KeyId key) {
      const std::size_t rank = rank_[key.index()];
      return rank >= first && rank < first + within.size() && present.has(rank);
    });
    if (static_cast<std::uint32_t>(there) == end - before) continue;
    for (std::uint32_t i = before; i < end; ++i) {
      const KeyId key = keys_.all()[present.find(i)];
      if (!std::binary_search(known.begin(), known.end(), key)) out.push_back({scan, key});
    }
  }
  std::sort(out.begin(), out.end());
  return out;
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
