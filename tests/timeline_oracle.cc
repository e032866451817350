#include "tests/timeline_oracle.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "tests/engine_levels.h"
#include "tests/observed.h"
#include "tests/oracle.h"
#include "tests/value_oracle.h"

namespace ouro::oracle {
namespace {

std::vector<Value> list_of(const History& history, Value value) {
  if (!value.is_list() || value.length() == 0) return {};
  const auto elements = history.list(value);
  return {elements.begin(), elements.end()};
}

}  // namespace

TimestampOracle::TimestampOracle(const History& history, Level level, std::int64_t clock_drift)
    : h_(history), level_(level), drift_(clock_drift), snapshots_(is_snapshot_level(level)) {
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    stamps_.emplace_back();
    if (!takes_part(txn)) continue;
    bool writes = false;
    for (OpId op = h_.first_op(txn); op < h_.end_op(txn); ++op.value) {
      writes |= is_write(h_.op(op).kind);
    }
    const auto start = h_.start_ts(txn);
    auto commit = h_.commit_ts(txn);
    if (!commit && !writes) commit = start;
    if (!commit || (snapshots_ && !start)) continue;
    stamps_.back() = Stamps{snapshots_ ? std::min(*start, *commit) : *commit, *commit, writes};
  }
}

bool TimestampOracle::takes_part(TxnId txn) const {
  return h_.status(txn) == TxnStatus::Committed ||
         (h_.status(txn) == TxnStatus::Unknown && h_.commit_ts(txn));
}

// Begins and commits are ordered by timestamp. At equal ones come first commits of transactions
// that began before, then writers that begin and commit at once, then readers that do, then begins;
// the rest is in the order of the history.
bool TimestampOracle::commits_before_begin(TxnId first, TxnId second) const {
  const Stamps& a = *stamps_[first.index()];
  const Stamps& b = *stamps_[second.index()];
  const int at_once_a = a.writes ? 1 : 2;
  const int at_once_b = b.writes ? 1 : 2;
  return std::tuple(a.commit, a.start < a.commit ? 0 : at_once_a, first) <
         std::tuple(b.start, b.start < b.commit ? 3 : at_once_b, second);
}

bool TimestampOracle::commits_before_commit(TxnId first, TxnId second) const {
  const Stamps& a = *stamps_[first.index()];
  const Stamps& b = *stamps_[second.index()];
  const int at_once_a = a.writes ? 1 : 2;
  const int at_once_b = b.writes ? 1 : 2;
  return std::tuple(a.commit, a.start < a.commit ? 0 : at_once_a, first) <
         std::tuple(b.commit, b.start < b.commit ? 0 : at_once_b, second);
}

std::vector<TxnId> TimestampOracle::present() const {
  std::vector<TxnId> out;
  for (std::size_t t = 0; t < stamps_.size(); ++t) {
    if (stamps_[t]) out.push_back(TxnId{t});
  }
  return out;
}

bool TimestampOracle::writes_key(TxnId txn, KeyId key) const {
  for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
    if (is_write(h_.op(id).kind) && h_.op(id).key == key) return true;
  }
  return false;
}

bool TimestampOracle::is_list(KeyId key) const {
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    if (op.key == key && (op.kind == OpKind::Append || op.value.is_list())) return true;
  }
  return false;
}

Held TimestampOracle::held(TxnId txn, KeyId key, OpId op) const {
  std::vector<TxnId> seen;
  for (const TxnId other : present()) {
    if (other != txn && commits_before_begin(other, txn)) seen.push_back(other);
  }
  std::sort(seen.begin(), seen.end(),
            [&](TxnId a, TxnId b) { return commits_before_commit(a, b); });
  Held out{h_.initial(key), !h_.initial(key).is_null() && !is_list(key), {}};
  const auto apply = [&](const Op& write) {
    if (!is_write(write.kind) || write.key != key) return;
    if (write.kind == OpKind::Append) {
      out.elements.push_back(write.value);
    } else {
      out.value = write.value;
      out.alive = write.kind != OpKind::Delete && !write.value.is_null();
    }
  };
  for (const TxnId other : seen) {
    for (OpId id = h_.first_op(other); id < h_.end_op(other); ++id.value) apply(h_.op(id));
  }
  for (OpId id = h_.first_op(txn); id < op; ++id.value) apply(h_.op(id));
  return out;
}

std::vector<KeyVersion> TimestampOracle::selected(TxnId txn, OpId op) const {
  const PredicateRead& read = h_.predicate_read(op);
  std::vector<KeyVersion> out;
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    const KeyId key{k};
    const Held held = this->held(txn, key, op);
    if (!held.alive) continue;
    bool match = false;
    if (h_.op(op).kind == OpKind::Scan) {
      match = in_range(h_, read, key);
    } else {
      match = truth_of(h_, read.predicate, key, held.value) == true;
    }
    if (match) out.push_back({key, held.value});
  }
  return out;
}

std::string TimestampOracle::aggregated(TxnId txn, OpId op) const {
  const PredicateRead& read = h_.predicate_read(op);
  const auto rows = selected(txn, op);
  std::vector<Value> values;
  for (const KeyVersion& row : rows) {
    values.push_back(read.column.valid() ? h_.cell(row.value, read.column) : h_.key_name(row.key));
  }
  std::erase_if(values, [](Value value) { return value.is_null(); });
  if (read.aggregate == AggregateKind::Count) {
    return std::to_string(read.column.valid() ? values.size() : rows.size());
  }
  if (values.empty()) return "null";
  std::int64_t sum = 0;
  std::int64_t least = values[0].number();
  std::int64_t greatest = least;
  for (const Value value : values) {
    sum += value.number();
    least = std::min(least, value.number());
    greatest = std::max(greatest, value.number());
  }
  if (read.aggregate == AggregateKind::Sum) return std::to_string(sum);
  return std::to_string(read.aggregate == AggregateKind::Min ? least : greatest);
}

std::map<AnomalyKind, std::uint64_t> TimestampOracle::counts() const {
  std::map<AnomalyKind, std::uint64_t> counts;
  count_stamps(counts);
  count_order(counts);
  if (snapshots_) count_conflicts(counts);
  for (const TxnId txn : present()) count_reads(txn, counts);
  return counts;
}

void TimestampOracle::count_stamps(std::map<AnomalyKind, std::uint64_t>& counts) const {
  std::map<std::pair<KeyId, Timestamp>, std::uint64_t> writers;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    if (!takes_part(txn)) continue;
    if (!stamps_[t]) {
      ++counts[AnomalyKind::MissingTimestamp];
      continue;
    }
    const auto start = h_.start_ts(txn);
    const auto commit = h_.commit_ts(txn);
    if (start && commit && *start > *commit) ++counts[AnomalyKind::InvertedTimestamps];
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      if (writes_key(txn, KeyId{k})) ++writers[{KeyId{k}, stamps_[t]->commit}];
    }
  }
  for (const auto& [stamp, count] : writers) {
    if (count > 1) counts[AnomalyKind::DuplicateTimestamp] += count - 1;
  }
}

bool TimestampOracle::writes_any_key(TxnId txn) const {
  bool writes = false;
  for (std::size_t k = 0; k < h_.key_count(); ++k) writes |= writes_key(txn, KeyId{k});
  return writes;
}

void TimestampOracle::count_order(std::map<AnomalyKind, std::uint64_t>& counts) const {
  for (const TxnId txn : present()) {
    bool session = false;
    bool real_time = false;
    for (const TxnId other : present()) {
      const bool seen = other != txn && commits_before_begin(other, txn);
      if (h_.session(other) == h_.session(txn) && other < txn) session |= !seen;
      if (precedes_in_time(h_, other, txn, drift_)) {
        real_time |= orders_commits_by_time(level_) ? !commits_before_commit(other, txn) : !seen;
      }
      if (is_serial_level(level_) || other == txn || !writes_any_key(txn)) continue;
      real_time |=
          commits_first_in_time(h_, other, txn, drift_) && !commits_before_commit(other, txn);
      real_time |= begins_first_in_time(h_, other, txn, drift_) && commits_before_begin(txn, other);
    }
    if (session && has_sessions(level_)) ++counts[AnomalyKind::SessionInversion];
    if (real_time && has_real_time(level_)) ++counts[AnomalyKind::RealTimeInversion];
  }
}

void TimestampOracle::count_conflicts(std::map<AnomalyKind, std::uint64_t>& counts) const {
  for (const TxnId a : present()) {
    for (const TxnId b : present()) {
      if (!(a < b) || commits_before_begin(a, b) || commits_before_begin(b, a)) continue;
      for (std::size_t k = 0; k < h_.key_count(); ++k) {
        if (writes_key(a, KeyId{k}) && writes_key(b, KeyId{k})) {
          ++counts[AnomalyKind::WriteConflict];
        }
      }
    }
  }
}

void TimestampOracle::count_reads(TxnId txn, std::map<AnomalyKind, std::uint64_t>& counts) const {
  for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
    if (const auto kind = wrong(txn, id)) ++counts[*kind];
  }
}

std::optional<AnomalyKind> TimestampOracle::wrong(TxnId txn, OpId id) const {
  const Op op = h_.op(id);
  if (is_predicate_read(op.kind)) {
    return right_result(txn, id) ? std::nullopt : std::optional(AnomalyKind::ResultSetMismatch);
  }
  if (op.kind == OpKind::ReadBack) {
    return reads_back(h_, txn, op) ? std::nullopt : std::optional(AnomalyKind::Internal);
  }
  const bool reads = is_read(op.kind) || op.kind == OpKind::CasFailed;
  if (!reads || op.value.is_unobserved()) return std::nullopt;
  return judge_read(txn, id);
}

std::optional<AnomalyKind> TimestampOracle::judge_read(TxnId txn, OpId read) const {
  const auto unless = [](bool right, AnomalyKind kind) {
    return right ? std::nullopt : std::optional(kind);
  };
  const Op op = h_.op(read);
  // The last read before that was observed, and the own writes since.
  std::optional<Value> before;
  std::vector<Value> own;
  for (OpId id = h_.first_op(txn); id < read; ++id.value) {
    const Op earlier = h_.op(id);
    if (earlier.key != op.key || is_predicate_read(earlier.kind)) continue;
    if (is_write(earlier.kind)) own.push_back(earlier.value);
    if (!is_read(earlier.kind) || earlier.value.is_unobserved()) continue;
    before = earlier.value;
    own.clear();
  }
  const Held snapshot = held(txn, op.key, h_.first_op(txn));
  if (!is_list(op.key)) {
    const bool same = op.kind != OpKind::CasFailed;  // A failed one read another value.
    if (!own.empty()) return unless((op.value == own.back()) == same, AnomalyKind::Internal);
    if (before) return unless((op.value == *before) == same, AnomalyKind::NonRepeatableRead);
    return unless((op.value == snapshot.value) == same, AnomalyKind::SnapshotMismatch);
  }
  std::vector<Value> shown = list_of(h_, op.value);
  if (before) {
    std::vector<Value> wanted = list_of(h_, *before);
    wanted.insert(wanted.end(), own.begin(), own.end());
    return unless(shown == wanted,
                  own.empty() ? AnomalyKind::NonRepeatableRead : AnomalyKind::Internal);
  }
  if (shown.size() < own.size()) return AnomalyKind::Internal;
  const std::vector<Value> tail(shown.end() - static_cast<std::ptrdiff_t>(own.size()), shown.end());
  if (tail != own) return AnomalyKind::Internal;
  shown.resize(shown.size() - own.size());
  return unless(shown == snapshot.elements, AnomalyKind::SnapshotMismatch);
}

bool TimestampOracle::right_result(TxnId txn, OpId read) const {
  const PredicateRead& details = h_.predicate_read(read);
  if (h_.op(read).kind == OpKind::Aggregate) {
    return is_aggregate(h_, details, selected(txn, read));
  }
  std::multiset<KeyVersion> returned;
  for (const KeyVersion& row : h_.rows(details)) {
    if (is_list(row.key)) continue;
    const Held held = this->held(txn, row.key, read);
    const bool tombstone = !held.alive && held.value == row.value;
    if (!tombstone) returned.insert(row);
  }
  const auto rows = selected(txn, read);
  return returned == std::multiset<KeyVersion>(rows.begin(), rows.end());
}

}  // namespace ouro::oracle
