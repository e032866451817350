#include "explain/excerpt.h"

#include <algorithm>
#include <memory>

#include "check/observed/items.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/commuting.h"
#include "history/value_order.h"
#include "ouro/explain.h"

namespace ouro {

Excerpter::Excerpter(const History& history, Evidence evidence, std::vector<bool> keys,
                     std::vector<bool> lacking)
    : h_(history), evidence_(evidence), keys_(std::move(keys)), lacking_(std::move(lacking)) {
  if (h_.has_predicate_reads()) lacking_.clear();
  alive_.reserve(count_writes());
  const auto kinds = columns_of(h_).op_kind;
  const auto key_of = columns_of(h_).op_key;
  absl::flat_hash_map<KeyId, OpId> last;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const bool aborted = h_.status(TxnId{t}) == TxnStatus::Aborted;
    last.clear();
    for (OpId id = h_.end_op(TxnId{t}); id > h_.first_op(TxnId{t});) {
      --id.value;
      const OpKind kind = kinds[id.index()];
      if (!(is_undone(kind) || is_write(kind)) || !notes(key_of[id.index()])) continue;
      const Op op = h_.op(id);
      if (is_undone(op.kind)) note(id, true);
      if (!is_write(op.kind)) continue;
      note(id, aborted);
      if (evidence_ != Evidence::Versions) continue;
      const auto [at, added] = last.try_emplace(op.key, id);
      if (!added) overwritten_.emplace(id, at->second);
    }
  }
  find_last_writes();
  if (!h_.has_predicate_reads()) return;
  const std::vector<bool> lists = list_keys(h_);
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    const bool row = !lists[k] && !h_.initial(KeyId{k}).is_null();
    if (knows(KeyId{k}) && row) initial_rows_.emplace_back(k);
  }
  sort_by_name(initial_rows_);
  if (evidence_ != Evidence::Timestamps) {
    find_deleted_rows();
  } else if (!scans_list_tombstones(h_)) {
    find_unclear_rows();
  }
  if (evidence_ == Evidence::Observed) find_counter_rows();
  if (evidence_ == Evidence::Timestamps) return;
  grounds_ = std::make_unique<RowGrounds>(h_, evidence_);
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    if (!is_write(op.kind) || h_.status(h_.txn_of(op.id)) == TxnStatus::Aborted) continue;
    writes_of_[op.key].push_back(op.id);
  }
}

std::span<const OpId> Excerpter::writes_of(KeyId key) const {
  const auto found = writes_of_.find(key);
  return found == writes_of_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::find_counter_rows() {
  for (const KeyVersion& entry : columns_of(h_).key_initial) {
    if (const auto row = counter_row(h_, entry.value)) {
      counter_rows_[row->counter].initial.push_back(entry.key);
    }
  }
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(TxnId{t}) == TxnStatus::Aborted) continue;
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      const Op op = h_.op(id);
      if (!is_write(op.kind)) continue;
      if (const auto row = counter_row(h_, op.value)) {
        counter_rows_[row->counter].writes.push_back(id);
      }
    }
  }
}

const Excerpter::CounterRows* Excerpter::counter_rows(const Op& read) const {
  if (evidence_ != Evidence::Observed || !is_predicate_read(read.kind)) return nullptr;
  const Value counter = counter_read(h_, read.kind, h_.predicate_read(read.id));
  const auto found = counter_rows_.find(counter);
  return counter.is_null() || found == counter_rows_.end() ? nullptr : &found->second;
}

void Excerpter::find_last_writes() {
  const auto kinds = columns_of(h_).op_kind;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (is_open_read(kinds[i])) last_writes_.try_emplace(h_.op(OpId{i}).key);
  }
  if (last_writes_.empty()) return;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    if (h_.status(txn) == TxnStatus::Aborted) continue;
    for (OpId id = h_.end_op(txn); id > h_.first_op(txn);) {
      const Op op = h_.op(OpId{--id.value});
      const auto at = is_write(op.kind) ? last_writes_.find(op.key) : last_writes_.end();
      if (at == last_writes_.end()) continue;
      const bool later = !at->second.empty() && at->second.back() >= h_.first_op(txn);
      if (!later) at->second.push_back(id);
    }
  }
}

std::span<const OpId> Excerpter::last_writes(KeyId key) const {
  const auto found = last_writes_.find(key);
  return found == last_writes_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::sort_by_name(std::vector<KeyId>& keys) const {
  std::sort(keys.begin(), keys.end(), [&](KeyId a, KeyId b) {
    return compare_values(h_, h_.key_name(a), h_.key_name(b)) < 0;
  });
}

// A key with an initial value that was deleted only once is clear: it is absent only after that.
void Excerpter::find_unclear_rows() {
  for (const auto& [key, deletes] : deletes_) {
    const auto tombstones = static_cast<std::size_t>(std::count_if(
        deletes.begin(), deletes.end(), [&](OpId op) { return !h_.op(op).value.is_null(); }));
    const bool once = tombstones == 1 && deletes.size() == 1 && !h_.initial(key).is_null();
    if (tombstones > 0 && !once) unclear_rows_.push_back(key);
  }
  sort_by_name(unclear_rows_);
}

void Excerpter::find_deleted_rows() {
  for (const auto& [key, deletes] : deletes_) deleted_rows_.push_back(key);
  sort_by_name(deleted_rows_);
}

std::span<const OpId> Excerpter::deletes(KeyId key) const {
  const auto found = deletes_.find(key);
  return found == deletes_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::note(OpId write, bool aborted) {
  const Op op = h_.op(write);
  const bool deletes = info(op.kind).deletes || op.value.is_null();
  if (deletes && !aborted) deletes_[op.key].push_back(write);
  const KeyValue what{op.key, op.value};
  if (aborted) {
    aborted_[what].push_back(write);
    return;
  }
  const auto [only, added] = alive_.try_emplace(what, write);
  if (added) return;
  std::vector<OpId>& all = several_[what];
  if (only->second.valid()) all.push_back(only->second);
  only->second = OpId{};
  all.push_back(write);
}

// How many operations note() is called for.
std::size_t Excerpter::count_writes() const {
  const auto& kinds = columns_of(h_).op_kind;
  const auto& of = columns_of(h_).op_key;
  std::size_t count = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (is_write(kinds[i]) && notes(of[i])) ++count;
  }
  return count;
}

OpId Excerpter::installed(OpId write) const {
  const auto found = overwritten_.find(write);
  return found == overwritten_.end() ? write : found->second;
}

const std::vector<RowGrounds::Row>* Excerpter::grounds(OpId read) const {
  return grounds_ == nullptr ? nullptr : grounds_->of(read);
}

std::span<const KeyId> Excerpter::within(std::span<const KeyId> keys, Value lower,
                                         Value upper) const {
  const auto first = std::partition_point(keys.begin(), keys.end(), [&](KeyId key) {
    return !lower.is_null() && compare_values(h_, h_.key_name(key), lower) < 0;
  });
  const auto end = std::partition_point(first, keys.end(), [&](KeyId key) {
    return upper.is_null() || compare_values(h_, h_.key_name(key), upper) <= 0;
  });
  return {first, end};
}

std::span<const OpId> Excerpter::sources(KeyId key, Value value) const {
  const KeyValue what{key, value};
  if (const auto only = alive_.find(what); only != alive_.end()) {
    if (only->second.valid()) return {&only->second, 1};
    return several_.find(what)->second;
  }
  const auto aborted = aborted_.find(what);
  if (aborted == aborted_.end() || value == h_.initial(key)) return {};
  return aborted->second;
}

namespace {

// Makes the part with these operations, and looks only at their keys; at all, if one of them is a
// predicate read, which may have to do with any key.
Excerpt part_of(const History& history, std::span<const TxnId> txns, std::span<const OpId> ops,
                Evidence evidence) {
  std::vector<bool> kept(history.op_count(), false);
  std::vector<bool> keys(history.key_count(), false);
  bool of_keys = true;
  for (const OpId op : ops) {
    kept[op.index()] = true;
    const KeyId key = history.op(op).key;
    if (key.valid()) keys[key.index()] = true;
    of_keys = of_keys && key.valid();
  }
  if (!of_keys) keys.clear();
  return Excerpter(history, evidence, std::move(keys)).make(txns, kept);
}

std::vector<OpId> ops_of(const History& history, std::span<const TxnId> txns) {
  std::vector<OpId> ops;
  for (const TxnId txn : txns) {
    for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) ops.push_back(op);
  }
  return ops;
}

}  // namespace

History excerpt(const History& history, std::span<const TxnId> txns, std::span<const OpId> ops,
                Evidence evidence) {
  return part_of(history, txns, ops, evidence).history;
}

History excerpt(const History& history, std::span<const TxnId> txns, Evidence evidence) {
  return excerpt(history, txns, ops_of(history, txns), evidence);
}

Excerpt whole_txns(const History& history, std::span<const TxnId> txns, Evidence evidence) {
  return part_of(history, txns, ops_of(history, txns), evidence);
}

}  // namespace ouro
