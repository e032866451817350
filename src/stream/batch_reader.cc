#include "stream/batch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "history/access.h"
#include "history/columns.h"
#include "history/undone.h"

namespace ouro::stream {
namespace {

Error refusal(const Place& place, std::string what) {
  Error error;
  error.file = std::string(place.file);
  if (place.unit == PlaceUnit::Line) error.line = place.position;
  if (place.unit == PlaceUnit::Byte) error.offset = place.position;
  error.what = std::move(what);
  return error;
}

bool fits(std::span<const Timestamp> stamps) {
  return std::all_of(stamps.begin(), stamps.end(), [](const Timestamp& ts) {
    return ts.logical >= 0 && ts.logical <= std::numeric_limits<std::uint32_t>::max();
  });
}

}  // namespace

std::span<const Value> elements(const History& history, Value value) {
  return value.is_list() && value.length() > 0 ? history.list(value) : std::span<const Value>{};
}

TxnMoments moments_of(const History& history, TxnId txn, Arrival arrival, const LevelRules& rules) {
  return ouro::moments_of(history, txn, writes(history, txn), arrival, rules.begins_apart());
}

Status BatchReader::enter(const History& batch) {
  if (Status status = check_batch(batch); !status.ok()) return status;
  batch_ = &batch;
  const std::size_t count = batch.key_count();
  names_.resize(count);
  hashes_.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    names_[k] = name_of(batch, batch.key_name(KeyId{k}));
    hashes_[k] = names_[k].hash();
  }
  states_.resize(count);
  if (Status status = cold_.bring_back(names_, hashes_, states_); !status.ok()) return status;
  if (Status status = check_kinds(batch); !status.ok()) return status;
  values_.enter(batch);
  find_keys(batch);
  return {};
}

Status BatchReader::check_batch(const History& batch) const {
  const HistoryColumns& c = columns_of(batch);
  Place place;
  place.file = batch.file();
  if (!initials_.agrees(batch)) {
    return refusal(place,
                   "the initial value of all keys is another one than before; say it once, in the "
                   "first line");
  }
  if (!fits(c.start_ts) || !fits(c.commit_ts)) {
    return refusal(place, "a timestamp's logical part is negative or above 4294967295");
  }
  const auto* const inc =
      std::find(c.op_kind.data(), c.op_kind.data() + c.op_kind.size(), OpKind::Inc);
  if (inc != c.op_kind.data() + c.op_kind.size()) {
    return refusal(batch.place(OpId{static_cast<std::size_t>(inc - c.op_kind.data())}),
                   "counters cannot be checked piece by piece; check the whole history, without "
                   "--stream and without a service");
  }
  return {};
}

// Finds out which keys are lists, and refuses a key that is both a list and a register. As long as
// the stream has no list at all, this costs one pass over the operations.
Status BatchReader::check_kinds(const History& batch) {
  const HistoryColumns& c = columns_of(batch);
  new_lists_.clear();
  bool lists = has_lists_;
  for (std::size_t i = 0; i < c.op_kind.size() && !lists; ++i) {
    lists = shows_list(c.op_kind[i], c.op_value[i]);
  }
  if (!lists) return {};
  std::vector<KeyKind> kinds(batch.key_count(), KeyKind::Unknown);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const KeyState* const known = keys_.find(names_[k], hashes_[k]);
    if (known != nullptr) kinds[k] = known->kind;
  }
  for (std::size_t i = 0; i < c.op_kind.size(); ++i) {
    const bool list = shows_list(c.op_kind[i], c.op_value[i]);
    if (!list && !shows_register(c.op_kind[i], c.op_value[i])) continue;
    KeyKind& kind = kinds[c.op_key[i].index()];
    const KeyKind here = list ? KeyKind::List : KeyKind::Register;
    if (kind != KeyKind::Unknown && kind != here) {
      return refusal(batch.place(OpId{i}),
                     fmt::format("{} is a {} elsewhere, but a {} here; a key is either a register "
                                 "or a list",
                                 batch.key_label(c.op_key[i]), list ? "register" : "list",
                                 list ? "list" : "register"));
    }
    kind = here;
  }
  has_lists_ = true;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k] != KeyKind::List) continue;
    KeyState* const key = keys_.find_or_add(names_[k], hashes_[k]);
    if (key->kind != KeyKind::List) new_lists_.emplace_back(k);
    key->kind = KeyKind::List;
  }
  return {};
}

// Looks up each key in three steps, kStride keys apart: each prefetches what the next one needs, so
// that nothing waits for memory.
void BatchReader::find_keys(const History& batch) {
  constexpr std::size_t kStride = 12;
  const std::size_t count = batch.key_count();
  touched_.assign(count, {});
  if (!cold_.empty()) {
    for (std::size_t k = 0; k < count; ++k) {
      KeyState* const known = states_[k];
      touched_[k].key = known != nullptr ? known : keys_.find_or_add(names_[k], hashes_[k]);
    }
    return;
  }
  for (std::size_t i = 0; i < count + 2 * kStride; ++i) {
    if (i < count) keys_.prefetch(hashes_[i]);
    if (i >= kStride && i - kStride < count) {
      KeyState* const likely = keys_.likely(hashes_[i - kStride]);
      touched_[i - kStride].key = likely;
      if (likely != nullptr) keys_.prefetch_state(likely);
    }
    if (i < 2 * kStride) continue;
    const std::size_t k = i - 2 * kStride;
    KeyState*& key = touched_[k].key;
    if (key == nullptr || key->name != names_[k]) key = keys_.find_or_add(names_[k], hashes_[k]);
  }
}

void BatchReader::prefetch_keys(TxnId txn) const {
  if (batch_->has_predicate_reads()) return;  // They have no key.
  const auto keys = columns_of(*batch_).op_key;
  for (OpId op = batch_->first_op(txn); op < batch_->end_op(txn); ++op.value) {
    keys_.prefetch_state(touched_[keys[op.index()].index()].key);
  }
}

void BatchReader::prefetch_tails(TxnId txn) const {
  const HistoryColumns& c = columns_of(*batch_);
  if (!c.predicate_reads.empty()) return;
  for (OpId op = batch_->first_op(txn); op < batch_->end_op(txn); ++op.value) {
    const KeyState* const key = touched_[c.op_key[op.index()].index()].key;
    const auto* const tail = static_cast<const char*>(key->registers.tail());
    __builtin_prefetch(tail);
    if (tail != nullptr) __builtin_prefetch(tail + sizeof(Version) - 1);
    if (is_read(c.op_kind[op.index()])) __builtin_prefetch(key->reads.tail(), 1);
  }
}

const Arriving& BatchReader::take(TxnId txn, Arrival arrival) {
  out_.predicate_reads.clear();
  out_.reads.clear();
  out_.written.clear();
  out_.hidden.clear();
  out_.inner.clear();
  static_cast<TxnMoments&>(out_) = moments_of(*batch_, txn, arrival, rules_);
  out_.txn = txn;
  out_.arrival = arrival;
  if (out_.known()) {
    take_ops(txn, arrival);
  } else {
    hide_ops(txn);
  }
  return out_;
}

// The transaction has no moments, so all its writes are hidden.
void BatchReader::hide_ops(TxnId txn) {
  for (OpId id = batch_->first_op(txn); id < batch_->end_op(txn); ++id.value) {
    const Op op = batch_->op(id);
    if (is_predicate_read(op.kind)) continue;
    KeyState* const key = touched_[op.key.index()].key;
    if (shows_register(op.kind, op.value)) key->kind = KeyKind::Register;
    if (is_write(op.kind)) out_.hidden.push_back({key, values_.of(op.value)});
  }
}

void BatchReader::take_ops(TxnId txn, Arrival arrival) {
  const HistoryColumns& c = columns_of(*batch_);
  first_op_ = batch_->first_op(txn).value;
  const std::uint32_t end = batch_->end_op(txn).value;
  for (std::uint32_t i = first_op_; i < end; ++i) {
    const Value value = c.op_value[i];
    const OpKind kind = c.op_kind[i];
    if (is_read(kind) && value.is_unobserved()) continue;
    if (is_predicate_read(kind)) {
      out_.predicate_reads.push_back(i - first_op_);
      continue;
    }
    Touched& touched = touched_[c.op_key[i].index()];
    const bool first = touched.by != arrival;
    const std::uint32_t op = i - first_op_;
    if (!is_read(kind) && !is_write(kind)) {
      if (is_open_read(kind)) note_open_read(touched, first, op, value);
      if (const OpId write = contradicted_undone_write(*batch_, txn, OpId{i}); write.valid()) {
        out_.inner.push_back({AnomalyKind::Internal, op, write.value - first_op_});
      }
      continue;
    }
    if (first) touched = {.key = touched.key, .by = arrival};
    if (is_write(kind)) {
      note_write(touched, op, kind, value);
    } else if (touched.key->kind == KeyKind::List) {
      note_list_read(touched, op, value);
    } else {
      note_read(touched, first, op, value);
    }
    touched.op = op;
  }
}

void BatchReader::note_write(Touched& touched, std::uint32_t op, OpKind kind, Value value) {
  if (touched.written == kNone) {
    touched.written = static_cast<std::uint32_t>(out_.written.size());
    out_.written.push_back({touched.key, op, 0, {}});
  }
  KeyWrite& write = out_.written[touched.written];
  if (write.op != op && !is_append(kind)) {
    out_.hidden.push_back({touched.key, write.value});
  }
  touched.value = write.value = values_.of(value);
  if (is_append(kind)) {
    write.appended.append(write.value);
  } else {
    touched.key->kind = KeyKind::Register;
  }
}

void BatchReader::note_read(Touched& touched, bool first, std::uint32_t op, Value value) {
  const std::uint64_t seen = values_.of(value);
  if (first) {
    out_.reads.push_back({touched.key, op, seen, false});
  } else if (seen != touched.value) {
    const OpKind before = columns_of(*batch_).op_kind[first_op_ + touched.op];
    out_.inner.push_back({is_write(before) ? AnomalyKind::Internal : AnomalyKind::NonRepeatableRead,
                          op, touched.op});
  }
  if (!value.is_null()) touched.key->kind = KeyKind::Register;
  touched.value = seen;
}

// Does not change `touched`: nobody knows what the read returned, so no later read can contradict
// it.
void BatchReader::note_open_read(const Touched& touched, bool first, std::uint32_t op,
                                 Value value) {
  touched.key->kind = KeyKind::Register;
  const std::uint64_t other = values_.of(value);
  if (first) {
    out_.reads.push_back({touched.key, op, other, true});
  } else if (other == touched.value) {
    const OpKind before = columns_of(*batch_).op_kind[first_op_ + touched.op];
    out_.inner.push_back({is_write(before) ? AnomalyKind::Internal : AnomalyKind::NonRepeatableRead,
                          op, touched.op});
  }
}

void BatchReader::gather_own(KeyId key, std::uint32_t from, std::uint32_t to) {
  const HistoryColumns& c = columns_of(*batch_);
  own_.clear();
  for (std::uint32_t op = from == kNone ? 0 : from; op < to; ++op) {
    const std::uint32_t i = first_op_ + op;
    const bool appends = is_write(c.op_kind[i]) && is_append(c.op_kind[i]);
    if (appends && c.op_key[i] == key) own_.push_back(c.op_value[i]);
  }
}

// Does what ListReplay::judge() does for whole histories, except that elements appended by others
// are judged later, as an OuterRead.
void BatchReader::note_list_read(Touched& touched, std::uint32_t op, Value value) {
  gather_own(columns_of(*batch_).op_key[first_op_ + op], touched.read, op);
  const auto shown = elements(*batch_, value);
  const bool ends_with_own =
      shown.size() >= own_.size() &&
      std::equal(own_.begin(), own_.end(), shown.end() - static_cast<std::ptrdiff_t>(own_.size()));
  const bool again = touched.read != kNone;
  bool right = ends_with_own;
  if (again) {
    const Value last = columns_of(*batch_).op_value[first_op_ + touched.read];
    const auto before = elements(*batch_, last);
    right = right && shown.size() == before.size() + own_.size() &&
            std::equal(before.begin(), before.end(), shown.begin());
  } else if (right) {
    const std::size_t others = shown.size() - own_.size();
    const ListHash hash = others == 0 ? ListHash() : values_.prefix(value, others);
    out_.reads.push_back({touched.key, op, hash.value(), false});
  }
  if (!right) {
    out_.inner.push_back(
        {again && own_.empty() ? AnomalyKind::NonRepeatableRead : AnomalyKind::Internal, op,
         touched.op});
  }
  touched.read = op;
}

}  // namespace ouro::stream
