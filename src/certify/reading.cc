#include "certify/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "certify/undone.h"
#include "certify/values.h"

namespace ouro::recheck {

Result<Reading> Reading::of(const History& history, Evidence evidence,
                            std::span<const ReadSource> sources, std::span<const ReadKey> untold,
                            ScanKeys scan_keys) {
  Reading reading(history, evidence, sources, untold, scan_keys);
  reading.note_tombstones();
  reading.take_apart();
  if (auto status = reading.note_kinds(); !status) return std::move(status).error();
  reading.note_writes();
  reading.find_last_writes();
  reading.note_candidates();
  if (auto status = reading.join_reads(); !status) return std::move(status).error();
  if (evidence == Evidence::Versions) {
    if (auto status = reading.read_orders(); !status) return std::move(status).error();
  }
  reading.count_transactions();
  std::erase_if(reading.flaws_,
                [&](const Flaw& f) { return !reading.counts(reading.access(f.read).txn); });
  std::erase_if(reading.undone_flaws_,
                [&](const UndoneFlaw& f) { return !reading.counts(history.txn_of(f.read)); });
  return reading;
}

Error Reading::error_at(AccessId id, std::string what) const {
  const Place place = h_->place(accesses_[id].op);
  Error error;
  error.file = std::string(place.file);
  if (place.unit == PlaceUnit::Line) error.line = place.position;
  if (place.unit == PlaceUnit::Byte) error.offset = place.position;
  error.what = std::move(what);
  return error;
}

// ---- accesses ----

void Reading::take_apart() {
  find_lists();
  std::vector<KeyId> keys;
  if (h_->has_predicate_reads()) {
    for (std::size_t k = 0; k < h_->key_count(); ++k) keys.emplace_back(k);
    std::sort(keys.begin(), keys.end(),
              [&](KeyId a, KeyId b) { return less(*h_, h_->key_name(a), h_->key_name(b)); });
  }
  accesses_.reserve(h_->op_count());
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    const TxnId txn{t};
    txn_first_.push_back(static_cast<AccessId>(accesses_.size()));
    for (OpId id = h_->first_op(txn); id < h_->end_op(txn); ++id.value) {
      op_first_.push_back(static_cast<AccessId>(accesses_.size()));
      take_apart(txn, h_->op(id), keys);
    }
  }
  txn_first_.push_back(static_cast<AccessId>(accesses_.size()));
  op_first_.push_back(static_cast<AccessId>(accesses_.size()));
}

// A key is a list if something is appended to it, or if it is read as one.
void Reading::find_lists() {
  is_list_.assign(h_->key_count(), false);
  for (std::size_t i = 0; i < h_->op_count(); ++i) {
    const Op op = h_->op(OpId{i});
    if (!is_predicate_read(op.kind)) {
      const bool appends = op.kind == OpKind::Append || op.kind == OpKind::UndoneAppend;
      if (appends || op.value.is_list()) is_list_[op.key.index()] = true;
      continue;
    }
    for (const KeyVersion& row : h_->rows(h_->predicate_read(op.id))) {
      if (row.value.is_list()) is_list_[row.key.index()] = true;
    }
  }
}

// Adds the accesses of an operation. A returned row is a read of its key; a key in a scan's range
// that was not returned, and is no list, is a read that found nothing, or the tombstone that the
// version set of the scan lists. Rows that an aggregate summed up are unknown.
void Reading::take_apart(TxnId txn, const Op& op, std::span<const KeyId> sorted_keys) {
  if (h_->undone_part(op.id) != 0 && !is_predicate_read(op.kind)) note_undone(txn, op);
  if (!is_predicate_read(op.kind)) {
    const bool acts = ouro::is_read(op.kind) || is_open_read(op.kind) || ouro::is_write(op.kind);
    if (!acts) return;
    accesses_.push_back({op.id, txn, op.key, op.kind, op.value});
    return;
  }
  const PredicateRead& read = h_->predicate_read(op.id);
  if (is_counter_read(op)) {
    // It saw each row of another transaction, or did not: nobody knows.
    for (const CounterRows::Row& row : counters_.rows(read)) {
      if (row.txn == txn || !row.is_last || read.result.is_unobserved()) continue;
      accesses_.push_back({op.id, txn, row.key, OpKind::CasFailed, read.result});
    }
  }
  std::vector<KeyId> returned;
  for (const KeyVersion& row : h_->rows(read)) {
    if (has_untold_keys(op) && row.value.is_null()) continue;  // It was not found.
    accesses_.push_back({op.id, txn, row.key, OpKind::Read, row.value});
    returned.push_back(row.key);
  }
  std::sort(returned.begin(), returned.end());
  // By version orders all keys that a scan may have missed are reads.
  const bool by_orders = evidence_ == Evidence::Versions;
  const bool all = op.kind == OpKind::Scan && (by_orders || scan_keys_ == ScanKeys::All);
  if (const auto untold = untold_keys_.find(op.id); !all && untold != untold_keys_.end()) {
    for (const KeyId key : untold->second) add_untold(txn, op, key);
  }
  if (op.kind != OpKind::Scan) return;
  const auto is_told = [&](KeyId key) {
    return is_list(key) || std::binary_search(returned.begin(), returned.end(), key);
  };
  if (has_untold_keys(op)) {
    const std::vector<KeyId> mine = written_before(op);
    for (const KeyId key : mine) {
      if (is_told(key) || !in_range(*h_, read, key)) continue;
      accesses_.push_back({op.id, txn, key, OpKind::Read, Value::null()});
    }
    for (const KeyId key : all ? range_of(read, sorted_keys) : std::span<const KeyId>()) {
      const bool row = by_orders || has_rows_[key.index()];
      if (!row || is_told(key) || std::binary_search(mine.begin(), mine.end(), key)) continue;
      add_untold(txn, op, key);
    }
    return;
  }
  absl::flat_hash_map<KeyId, Value> listed;
  for (const KeyVersion& version : h_->version_set(read)) listed[version.key] = version.value;
  for (const KeyId key : range_of(read, sorted_keys)) {
    if (is_told(key)) continue;
    const auto seen = listed.find(key);
    const Value value = seen == listed.end() ? Value::null() : seen->second;
    if (!value.is_null()) unreturned_.insert(static_cast<AccessId>(accesses_.size()));
    accesses_.push_back({op.id, txn, key, OpKind::Read, value});
  }
}

void Reading::add_untold(TxnId txn, const Op& op, KeyId key) {
  untold_.insert(static_cast<AccessId>(accesses_.size()));
  accesses_.push_back({op.id, txn, key, OpKind::Read, Value::null()});
}

// The keys that the transaction of an operation wrote before it; sorted.
std::vector<KeyId> Reading::written_before(const Op& op) const {
  std::vector<KeyId> out;
  for (OpId id = h_->first_op(h_->txn_of(op.id)); id < op.id; ++id.value) {
    if (sees_own(*h_, h_->op(id), op.id)) out.push_back(h_->op(id).key);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Those of `sorted_keys` that a scan asks for.
std::span<const KeyId> Reading::range_of(const PredicateRead& scan,
                                         std::span<const KeyId> sorted_keys) const {
  const auto first = std::partition_point(sorted_keys.begin(), sorted_keys.end(), [&](KeyId key) {
    return !scan.lower.is_null() && less(*h_, h_->key_name(key), scan.lower);
  });
  const auto end = std::partition_point(first, sorted_keys.end(), [&](KeyId key) {
    return scan.upper.is_null() || !less(*h_, scan.upper, h_->key_name(key));
  });
  return {first, end};
}

void Reading::note_undone(TxnId txn, const Op& op) {
  if (undoes(op.kind)) undone_.try_emplace({op.key, op.value}, op.id);
  const OpId write = contradicted_write(*h_, txn, op.id);
  if (write.valid()) undone_flaws_.push_back({op.id, write});
}

// ---- writes ----

Status Reading::note_kinds() {
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    const Access& a = accesses_[id];
    if (!is_list(a.key)) continue;
    const bool blank = a.value.is_null() || a.value.is_unobserved();
    const bool fits = a.kind == OpKind::Append
                          ? !a.value.is_null()
                          : a.kind == OpKind::Read && (blank || a.value.is_list());
    if (!fits) {
      return error_at(
          id, fmt::format("{} is used both as a list and as a single value", h_->key_label(a.key)));
    }
  }
  return {};
}

void Reading::note_writes() {
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    if (!is_write(id)) continue;
    if (accesses_[id].kind == OpKind::Delete) note_tombstone(id);
    if (accesses_[id].value.is_null()) {
      note_null_write(id);
    } else {
      note_write(id);
    }
  }
}

void Reading::note_tombstone(AccessId id) {
  if (accesses_[id].value.is_null() || status(id) == TxnStatus::Aborted) return;
  NullWrites& known = null_writes_[accesses_[id].key];
  const bool again =
      known.tombstone != kNoAccess && accesses_[known.tombstone].txn == accesses_[id].txn;
  if (!again) ++known.deleters;
  known.tombstone = id;
}

// Fills tombstones_, tombstones_are_listed_ and has_rows_.
void Reading::note_tombstones() {
  if (!h_->has_predicate_reads()) return;
  absl::flat_hash_set<std::pair<KeyId, Value>> aborted;
  for (std::size_t i = 0; i < h_->op_count(); ++i) {
    const Op op = h_->op(OpId{i});
    if (op.kind != OpKind::Delete || op.value.is_null()) continue;
    const bool counts = h_->status(h_->txn_of(op.id)) != TxnStatus::Aborted;
    (counts ? tombstones_ : aborted).insert({op.key, op.value});
  }
  const bool any = !tombstones_.empty() || !aborted.empty();
  for (std::size_t i = 0; i < h_->op_count() && any; ++i) {
    if (h_->op(OpId{i}).kind != OpKind::Scan) continue;
    for (const KeyVersion& row : h_->rows(h_->predicate_read(OpId{i}))) {
      const std::pair<KeyId, Value> version{row.key, row.value};
      tombstones_are_listed_ |= tombstones_.contains(version) || aborted.contains(version);
    }
  }
  for (std::size_t k = 0; k < h_->key_count(); ++k) {
    has_rows_.push_back(!h_->initial(KeyId{k}).is_null());
  }
  for (std::size_t i = 0; i < h_->op_count(); ++i) {
    const Op op = h_->op(OpId{i});
    if (!ouro::is_write(op.kind) || h_->status(h_->txn_of(op.id)) == TxnStatus::Aborted) continue;
    if (is_listed(op.value, op.kind == OpKind::Delete)) has_rows_[op.key.index()] = true;
  }
}

void Reading::note_null_write(AccessId id) {
  NullWrites& known = null_writes_[accesses_[id].key];
  if (status(id) == TxnStatus::Aborted) {
    known.aborted = id;
    return;
  }
  if (known.last == kNoAccess || accesses_[known.last].txn != accesses_[id].txn) ++known.writers;
  if (known.last != kNoAccess) note_repeated(known.last, id);
  known.last = id;
}

// Both are writes of the same value by transactions that did not abort; `id` is the later one.
void Reading::note_repeated(AccessId before, AccessId id) {
  const Access& a = accesses_[id];
  const bool same = accesses_[before].txn == a.txn;
  if (same && !repeated_.contains({a.key, a.value})) return;
  auto& writes = repeated_[{a.key, a.value}];
  if (writes.empty()) writes.push_back(before);
  if (same) writes.pop_back();
  writes.push_back(id);
}

// Enters a write into written_. Of several of the same value it keeps one that did not abort, if
// there is one, and the last of its transaction.
void Reading::note_write(AccessId id) {
  const Access& a = accesses_[id];
  const bool aborted = status(id) == TxnStatus::Aborted;
  const auto [at, added] = written_.try_emplace({a.key, a.value}, id);
  if (added) return;
  if (status(at->second) == TxnStatus::Aborted) {
    if (!aborted || accesses_[at->second].txn == a.txn) at->second = id;
  } else if (!aborted) {
    note_repeated(at->second, id);
    at->second = id;
  }
}

// Sets the source of every write: its transaction's last write of the key.
void Reading::find_last_writes() {
  source_.assign(accesses_.size(), kNowhere);
  std::vector<AccessId> last(h_->key_count(), kNoAccess);
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    const AccessId first = txn_first_[t];
    for (AccessId id = txn_first_[t + 1]; id-- > first;) {
      if (!is_write(id)) continue;
      AccessId& mine = last[accesses_[id].key.index()];
      if (mine == kNoAccess || accesses_[mine].txn.index() != t) mine = id;
      source_[id] = mine;
    }
  }
}

// Fills writes_of_.
void Reading::note_candidates() {
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    const Access& a = accesses_[id];
    const bool initial = is_write(id) && a.value == h_->initial(a.key);
    if (is_open_access(id) || is_untold(id) || initial) writes_of_[a.key];
  }
  for (const auto& [version, writes] : repeated_) writes_of_[version.first];
  if (writes_of_.empty()) return;
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    if (!is_write(id) || !is_last(id) || status(id) == TxnStatus::Aborted) continue;
    const auto found = writes_of_.find(accesses_[id].key);
    if (found != writes_of_.end()) found->second.push_back(id);
  }
}

AccessId Reading::last_write(TxnId txn, KeyId key) const {
  for (AccessId id = end(txn); id-- > first(txn);) {
    if (is_write(id) && accesses_[id].key == key) return id;
  }
  return kNoAccess;
}

// ---- who counts ----

void Reading::count_transactions() {
  counts_.assign(h_->txn_count(), false);
  std::vector<TxnId> pending;
  std::vector<std::uint32_t> followed(trunks_.size(), 0);
  const auto count = [&](TxnId txn) {
    if (txn == kInitialTxn || counts_[txn.index()]) return;
    counts_[txn.index()] = true;
    ++counted_;
    pending.push_back(txn);
  };
  const auto count_unknown = [&](AccessId write) {
    if (write != kNoAccess && status(write) == TxnStatus::Unknown) count(accesses_[write].txn);
  };
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    if (h_->status(TxnId{t}) == TxnStatus::Committed) count(TxnId{t});
  }
  for (const StatedOrder& order : orders_) {
    for (const AccessId write : order.writes) count_unknown(write);
  }
  while (!pending.empty()) {
    const TxnId txn = pending.back();
    pending.pop_back();
    for (AccessId id = first(txn); id < end(txn); ++id) {
      if (is_write(id)) continue;
      const Value value = accesses_[id].value;
      if (value.is_list() && value.length() > 0) {
        std::uint32_t& done = followed[value.trunk()];
        const auto appends = appends_of(value);
        for (; done < value.length(); ++done) count_unknown(appends[done]);
      } else if (!value.is_list() && is_external(id)) {
        count_unknown(source_[id]);
      }
    }
  }
}

}  // namespace ouro::recheck
