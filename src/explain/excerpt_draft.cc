#include "explain/excerpt_draft.h"

#include <algorithm>
#include <iterator>

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

ExcerptDraft::Staying ExcerptDraft::staying(KeyId key, Value value) {
  const auto sources = e_.may_lack(key) ? e_.sources(key, value) : std::span<const OpId>();
  if (sources.empty()) return {.any = true, .lacks = false, .lacking = {}};
  const auto look = [&] {
    Staying out;
    for (const OpId write : sources) {
      if (stays(write)) {
        out.any = true;
        continue;
      }
      const TxnId txn = h_.txn_of(write);
      out.lacking = !out.lacks || out.lacking == txn ? txn : TxnId{};
      out.lacks = true;
    }
    return out;
  };
  if (sources.size() == 1) return look();
  const auto [at, added] = repeated_.try_emplace({key, value});
  if (added) at->second = look();
  return at->second;
}

ExcerptDraft::Left ExcerptDraft::left(OpId read, const KeyVersion& returned) {
  if (!e_.knows(returned.key)) return Left::None;
  const Staying stay = staying(returned.key, returned.value);
  if (!stay.lacks) return Left::All;
  const Left rest = stay.any ? Left::Some : Left::None;
  const Left wrong = stay.any ? Left::All : Left::None;  // If it is wrong in the whole.
  if (e_.evidence() == Evidence::Timestamps) return wrong;
  const OpId own = own_write_before(read, returned.key);
  if (own.valid()) {
    if (h_.op(own).value != returned.value) return wrong;
    return stays(own) ? Left::All : rest;
  }
  const bool initially = h_.initial(returned.key) == returned.value;
  if (stay.lacking == h_.txn_of(read)) {  // It wrote that later.
    return initially ? Left::All : wrong;
  }
  const OpId any = e_.sources(returned.key, returned.value).front();
  return h_.status(h_.txn_of(any)) == TxnStatus::Aborted ? wrong : rest;
}

OpId ExcerptDraft::own_write_before(OpId read, KeyId key) {
  const TxnId txn = h_.txn_of(read);
  if (txn != owner_) {
    owner_ = txn;
    owned_.clear();
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (is_write(h_.op(id).kind)) owned_[h_.op(id).key].push_back(id);
    }
  }
  const auto writes = owned_.find(key);
  if (writes == owned_.end()) return OpId{};
  const auto after = std::lower_bound(writes->second.begin(), writes->second.end(), read);
  return after == writes->second.begin() ? OpId{} : *std::prev(after);
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
