#include "check/observed/repeated_elements.h"

#include <algorithm>
#include <tuple>

#include "check/observed/observed.h"

namespace ouro {

RepeatedElements::RepeatedElements(const Observed& observed, KeyId key) {
  const auto items = observed.items_of(key);
  add_groups(observed, items);
  if (empty()) return;
  look_at_reads(observed, items);
  const auto is_own = [&](const Append& append) { return owned_.contains(append.item); };
  for (Append& append : appends_) {
    const auto seen = seen_.find(append.txn);
    if (seen != seen_.end()) append.seen = seen->second;
  }
  for (auto& [element, group] : groups_) {
    const auto first = appends_.begin() + group.first;
    const auto end = appends_.begin() + group.end;
    std::sort(first, end, [&](const Append& a, const Append& b) {
      return std::tuple(is_own(a), a.seen, a.item) < std::tuple(is_own(b), b.seen, b.item);
    });
    group.free = group.first + static_cast<std::uint32_t>(std::find_if(first, end, is_own) - first);
  }
}

// Groups the appends of transactions that did not abort by element, and keeps those of elements
// that repeat.
void RepeatedElements::add_groups(const Observed& observed, std::span<const ItemId> items) {
  const Items& all = observed.items();
  std::vector<std::pair<Value, ItemId>> appends;
  for (const ItemId item : items) {
    const TxnId txn = observed.txn(item);
    if (!all.is_write(item) || observed.history().status(txn) == TxnStatus::Aborted) continue;
    appends.emplace_back(all.value(item), item);
  }
  std::sort(appends.begin(), appends.end());
  for (std::size_t i = 0; i < appends.size();) {
    std::size_t end = i + 1;
    while (end < appends.size() && appends[end].first == appends[i].first) ++end;
    if (end - i > 1) {
      const auto first = static_cast<std::uint32_t>(appends_.size());
      for (std::size_t j = i; j < end; ++j) {
        const TxnId txn = observed.txn(appends[j].second);
        appends_.push_back({txn, appends[j].second});
        in_order_.emplace_back(txn, appends[j].second);
      }
      const auto behind = static_cast<std::uint32_t>(appends_.size());
      groups_.emplace(appends[i].first, Group{first, behind, behind});
    }
    i = end;
  }
}

// Fills seen_ and own_.
void RepeatedElements::look_at_reads(const Observed& observed, std::span<const ItemId> items) {
  const Items& all = observed.items();
  const History& h = observed.history();
  std::vector<ItemId> own;  // Appends of the transaction at hand, so far.
  TxnId at_hand;
  for (const ItemId item : items) {
    const TxnId txn = observed.txn(item);
    if (txn != at_hand) own.clear();
    at_hand = txn;
    if (h.status(txn) == TxnStatus::Aborted) continue;
    if (all.is_write(item)) {
      own.push_back(item);
      continue;
    }
    const Value list = all.value(item);
    if (!all.is_read(item) || !list.is_list() || list.length() < own.size()) continue;
    const auto elements = h.list(list);
    const std::size_t others = elements.size() - own.size();
    std::size_t right = 0;
    while (right < own.size() && all.value(own[right]) == elements[others + right]) ++right;
    if (right < own.size()) continue;  // It is wrong, whoever appended what.
    std::uint32_t& seen = seen_[txn];
    seen = std::max(seen, static_cast<std::uint32_t>(others));
    if (h.status(txn) != TxnStatus::Committed) continue;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto position = static_cast<std::uint32_t>(others + i);
      if (!contains(elements[position]) || owned_.contains(own[i])) continue;
      if (own_.try_emplace(position, Own{elements[position], txn}).second) owned_.insert(own[i]);
    }
  }
}

std::span<const RepeatedElements::Append> RepeatedElements::appends(Value element) const {
  const auto found = groups_.find(element);
  if (found == groups_.end()) return {};
  return std::span(appends_).subspan(found->second.first, found->second.end - found->second.first);
}

std::span<const RepeatedElements::Append> RepeatedElements::possible(Value element,
                                                                     std::uint32_t position) const {
  const Group& group = groups_.at(element);
  const auto free = std::span(appends_).subspan(group.first, group.free - group.first);
  const auto end = std::partition_point(
      free.begin(), free.end(), [&](const Append& append) { return append.seen <= position; });
  return {free.begin(), end};
}

TxnId RepeatedElements::only(Value element, std::uint32_t position) const {
  const auto own = own_.find(position);
  if (own != own_.end() && own->second.element == element) return own->second.txn;
  const auto fits = possible(element, position);
  // If nobody fits, that is wrong, whoever is named. Appends of a transaction are neighbours.
  if (fits.empty()) return appends(element).front().txn;
  for (const Append& append : fits) {
    if (append.txn != fits.front().txn) return {};
  }
  return fits.front().txn;
}

std::vector<TxnId> RepeatedElements::candidates(Value element, std::uint32_t position) const {
  if (const TxnId txn = only(element, position); txn.valid()) return {txn};
  std::vector<TxnId> out;
  for (const Append& append : possible(element, position)) out.push_back(append.txn);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

ItemId RepeatedElements::append(Value element, TxnId txn, std::uint32_t number) const {
  const auto found = groups_.find(element);
  if (found == groups_.end()) return {};
  const auto all =
      std::span(in_order_).subspan(found->second.first, found->second.end - found->second.first);
  const auto first = std::partition_point(all.begin(), all.end(),
                                          [&](const auto& each) { return each.first < txn; });
  if (all.end() - first <= static_cast<std::ptrdiff_t>(number)) return {};
  const auto& [writer, item] = first[static_cast<std::ptrdiff_t>(number)];
  return writer == txn ? item : ItemId{};
}

}  // namespace ouro
