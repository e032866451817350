#include "certify/list_elements.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <tuple>

namespace ouro::recheck {

ListElements::ListElements(const History& history) : h_(&history) {
  find_repeated();
  if (!repeated_.empty()) look_at_reads();
}

void ListElements::find_repeated() {
  absl::flat_hash_map<std::pair<KeyId, Value>, OpId> first;
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    if (h_->status(TxnId{t}) == TxnStatus::Aborted) continue;
    for (OpId id = h_->first_op(TxnId{t}); id < h_->end_op(TxnId{t}); ++id.value) {
      const Op op = h_->op(id);
      if (op.kind != OpKind::Append) continue;
      const auto [at, added] = first.try_emplace({op.key, op.value}, id);
      if (added) continue;
      auto& all = repeated_[{op.key, op.value}];
      if (all.empty()) all.push_back(at->second);
      all.push_back(id);
    }
  }
}

// Fills seen_, own_ and owned_.
void ListElements::look_at_reads() {
  absl::flat_hash_set<KeyId> keys;
  for (const auto& [version, all] : repeated_) keys.insert(version.first);
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    if (h_->status(TxnId{t}) == TxnStatus::Aborted) continue;
    std::map<KeyId, std::vector<OpId>> mine;
    for (OpId id = h_->first_op(TxnId{t}); id < h_->end_op(TxnId{t}); ++id.value) {
      const Op op = h_->op(id);
      if (!keys.contains(op.key)) continue;
      if (op.kind == OpKind::Append) mine[op.key].push_back(id);
      if (op.kind != OpKind::Read || !op.value.is_list()) continue;
      const auto& own = mine[op.key];
      const auto list = h_->list(op.value);
      const bool ends_with_own =
          list.size() >= own.size() &&
          std::equal(own.begin(), own.end(), list.end() - static_cast<std::ptrdiff_t>(own.size()),
                     [&](OpId append, Value element) { return h_->op(append).value == element; });
      if (!ends_with_own) continue;
      const std::size_t others = list.size() - own.size();
      std::size_t& seen = seen_[{op.key, TxnId{t}}];
      seen = std::max(seen, others);
      if (h_->status(TxnId{t}) != TxnStatus::Committed) continue;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (!repeats(op.key, list[others + i]) || owned_.contains(own[i])) continue;
        if (own_.try_emplace({op.key, others + i}, own[i]).second) owned_.insert(own[i]);
      }
    }
  }
}

bool ListElements::repeats(KeyId key, Value element) const {
  return !repeated_.empty() && repeated_.contains({key, element});
}

std::vector<TxnId> ListElements::candidates(KeyId key, Value element, std::size_t position) const {
  const auto own = own_.find({key, position});
  if (own != own_.end() && h_->op(own->second).value == element) return {h_->txn_of(own->second)};
  const auto seen = [&](OpId append) {
    const auto found = seen_.find({key, h_->txn_of(append)});
    return found == seen_.end() ? 0 : found->second;
  };
  std::vector<TxnId> out;
  for (const OpId append : appends(key, element)) {
    if (!owned_.contains(append) && seen(append) <= position) out.push_back(h_->txn_of(append));
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (!out.empty()) return out;
  const auto rank = [&](OpId append) {
    return std::tuple(owned_.contains(append), seen(append), append);
  };
  const auto& all = appends(key, element);
  return {h_->txn_of(*std::min_element(
      all.begin(), all.end(), [&](OpId a, OpId b) { return rank(a) < rank(b); }))};
}

OpId ListElements::append(KeyId key, Value element, TxnId txn, std::size_t number) const {
  for (const OpId append : appends(key, element)) {
    if (append >= h_->first_op(txn) && append < h_->end_op(txn) && number-- == 0) return append;
  }
  return {};
}

}  // namespace ouro::recheck
