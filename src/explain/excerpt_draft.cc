#include "explain/excerpt_draft.h"

#include <algorithm>

namespace ouro {

ExcerptDraft::ExcerptDraft(const Excerpter& excerpter, const std::vector<bool>& kept)
    : e_(excerpter), h_(excerpter.history()), kept_(kept) {
  s_->whole = h_;
  const auto parts = columns_of(h_).outer_part;
  s_->outer_part.assign(parts.begin(), parts.end());
}

bool ExcerptDraft::stays(OpId write) const {
  return kept(write) && kept(e_.installed(write)) && e_.knows(h_.op(write).key);
}

bool ExcerptDraft::present(KeyId key, Value value) const {
  const auto sources = e_.sources(key, value);
  return sources.empty() ||
         std::any_of(sources.begin(), sources.end(), [&](OpId op) { return stays(op); });
}

bool ExcerptDraft::is_written(KeyId key) {
  if (!written_) {
    written_.emplace();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      const Op op = h_.op(OpId{i});
      if (!is_write(op.kind) || !stays(op.id)) continue;
      if (h_.status(h_.txn_of(op.id)) != TxnStatus::Aborted) written_->insert(op.key);
    }
  }
  return written_->contains(key);
}

KeyId ExcerptDraft::key(KeyId whole) {
  const auto [at, added] = keys_.try_emplace(whole, s_->key_name.size());
  if (added) {
    s_->key_name.push_back(h_.key_name(whole));
    key_ids_.push_back(whole);
  }
  return at->second;
}

KeyId ExcerptDraft::new_key() {
  s_->key_name.push_back(Value::small(0));
  key_ids_.emplace_back();
  return KeyId{s_->key_name.size() - 1};
}

// Predicates, and what values refer to, are those of the whole history.
History ExcerptDraft::history() const {
  HistoryColumns c = columns_of(h_);
  for_each_column([](auto& view, const auto& own) { view = own; }, c, *s_);
  static_cast<PredicateColumns<ColumnSpan>&>(c) = columns_of(h_);
  static_cast<PoolColumns<ColumnSpan>&>(c) = columns_of(h_);
  return history_of(c, s_);
}

}  // namespace ouro
