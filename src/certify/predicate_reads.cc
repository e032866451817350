#include "certify/predicate_reads.h"

#include <algorithm>

#include "certify/rows.h"
#include "certify/undone.h"
#include "certify/values.h"
#include "history/columns.h"

namespace ouro::recheck {

PredicateReads::PredicateReads(const Reading& reading, Seeing seeing,
                               std::span<const ReadSight> sights, std::span<const TxnId> order)
    : reading_(reading), h_(reading.history()), seeing_(seeing) {
  if (!h_.has_predicate_reads()) return;
  const bool observed = reading.evidence() == Evidence::Observed;
  const auto reads = columns_of(h_).predicate_reads;
  has_sets_ = !observed && std::any_of(reads.begin(), reads.end(), [](const PredicateRead& read) {
    return read.has_version_set;
  });
  index_.emplace(h_);
  order_versions(order);
  bool scans = false;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    for (OpId id = h_.first_op(txn); reading.counts(txn) && id < h_.end_op(txn); ++id.value) {
      const OpKind kind = h_.op(id).kind;
      const bool scan = observed && reading.has_untold_keys(h_.op(id));
      if (kind != OpKind::Select && kind != OpKind::Aggregate && !scan) continue;
      if (reading.is_counter_read(h_.op(id))) continue;
      scans |= scan;
      const bool set = h_.predicate_read(id).has_version_set;
      const bool placed = set ? !is_unclear(id) : h_.start_ts(txn).has_value();
      (!observed && placed ? reads_ : unplaced_).push_back(id);
    }
  }
  assume(sights);
  if (!scans) return;
  for (std::size_t k = 0; k < h_.key_count(); ++k) sorted_keys_.emplace_back(k);
  std::sort(sorted_keys_.begin(), sorted_keys_.end(),
            [&](KeyId a, KeyId b) { return less(h_, h_.key_name(a), h_.key_name(b)); });
}

// Fills versions_ from the complete version orders. The versions of other keys stand in `order`,
// or, if there is none, somehow.
void PredicateReads::order_versions(std::span<const TxnId> order) {
  versions_.resize(h_.key_count());
  ordered_.assign(h_.key_count(), !order.empty());
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    if (!reading_.is_list(KeyId{k})) versions_[k].push_back(kNoAccess);
  }
  for (const StatedOrder& stated : reading_.orders()) {
    auto& versions = versions_[stated.key.index()];
    if (!stated.complete || versions.size() != 1) continue;
    ordered_[stated.key.index()] = true;
    for (const AccessId write : stated.writes) {
      const AccessId version = reading_.last_write(write);
      if (reading_.counts(reading_.access(write).txn) && versions.back() != version) {
        versions.push_back(version);
      }
    }
  }
  std::vector<std::size_t> place(h_.txn_count(), h_.txn_count());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i].valid() && order[i].index() < place.size()) place[order[i].index()] = i;
  }
  std::vector<bool> stated(h_.key_count(), false);
  for (std::size_t k = 0; k < versions_.size(); ++k) stated[k] = versions_[k].size() != 1;
  for (AccessId id = 0; id < reading_.access_count(); ++id) {
    const Access& a = reading_.access(id);
    if (!reading_.is_write(id) || stated[a.key.index()] || !reading_.is_last(id)) continue;
    if (a.kind == OpKind::IncMark) continue;  // No read asks for it.
    // A transaction of unknown status may come to count if a read saw its version.
    const bool may_count = reading_.evidence() == Evidence::Observed && order.empty() &&
                           h_.status(a.txn) == TxnStatus::Unknown;
    if (reading_.counts(a.txn) || may_count) versions_[a.key.index()].push_back(id);
  }
  for (std::size_t k = 0; k < versions_.size(); ++k) {
    if (versions_[k].size() <= 2) ordered_[k] = true;  // One writer: the initial one comes first.
    if (stated[k]) continue;
    std::stable_sort(versions_[k].begin() + 1, versions_[k].end(), [&](AccessId a, AccessId b) {
      return place[reading_.access(a).txn.index()] < place[reading_.access(b).txn.index()];
    });
  }
  position_.assign(h_.op_count(), kNone);
  latest_.resize(h_.key_count());
  repeats_.assign(h_.key_count(), false);
  for (std::size_t k = 0; k < h_.key_count(); ++k) note_places(KeyId{k});
}

Value PredicateReads::value(KeyId key, std::uint32_t position) const {
  const AccessId write = versions(key)[position];
  return write == kNoAccess ? h_.initial(key) : reading_.access(write).value;
}

bool PredicateReads::is_alive(KeyId key, std::uint32_t position) const {
  const AccessId write = versions(key)[position];
  const bool deleted = write != kNoAccess && reading_.access(write).kind == OpKind::Delete;
  return !deleted && !value(key, position).is_null();
}

bool PredicateReads::matches(OpId read, KeyId key, std::uint32_t position) const {
  const AccessId write = versions(key)[position];
  const bool deleted = write != kNoAccess && reading_.access(write).kind == OpKind::Delete;
  return asks_for(read, key, value(key, position), deleted);
}

bool PredicateReads::asks_for(OpId id, KeyId key, Value value, bool deleted) const {
  const PredicateRead& read = h_.predicate_read(id);
  if (h_.op(id).kind == OpKind::Scan) {
    return reading_.is_listed(value, deleted) && in_range(h_, read, key);
  }
  return !deleted && !value.is_null() && is_settled(h_, read.predicate, key, value);
}

// Fills place_, position_ and latest_ for a key.
void PredicateReads::note_places(KeyId key) {
  const auto all = versions(key);
  auto& latest = latest_[key.index()];
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const bool repeats = has_sets_ && !place_.try_emplace({key, value(key, i)}, i).second;
    if (repeats) repeats_[key.index()] = true;
    if (i > 0) position_[reading_.access(all[i]).op.index()] = i;
    if (i == 0) {
      latest.emplace_back();  // The initial version precedes every snapshot.
      continue;
    }
    const Clock::Moment committed = commit(reading_.access(all[i]).txn);
    latest.push_back(i == 1 ? committed : std::max(latest.back(), committed));
  }
}

bool PredicateReads::depend_on_time() const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [&](OpId id) { return !h_.predicate_read(id).has_version_set; });
}

Clock::Moment PredicateReads::commit(TxnId writer) const {
  const Timestamp end = h_.commit_ts(writer).value_or(kNoTimestamp);
  const Timestamp start = h_.start_ts(writer).value_or(kNoTimestamp);
  return Clock::commit_of({seeing_ == Seeing::Commit ? end : start, end, true}, writer);
}

Clock::Moment PredicateReads::snapshot(TxnId reader) const {
  const Timestamp start = *h_.start_ts(reader);
  const Timestamp end = h_.commit_ts(reader).value_or(start);
  bool writes = false;
  for (OpId id = h_.first_op(reader); id < h_.end_op(reader); ++id.value) {
    writes = writes || is_write(h_.op(id).kind);
  }
  return Clock::begin_of({seeing_ == Seeing::Commit ? end : start, end, writes}, reader);
}

PredicateReads::Sight::Sight(const PredicateReads& reads, OpId id) : reads_(reads), read_(id) {
  const History& h = reads.h_;
  const PredicateRead& read = h.predicate_read(id);
  if (!read.has_version_set) snapshot_ = reads.snapshot(h.txn_of(id));
  for (const KeyVersion& version : h.version_set(read)) {
    version_set_.try_emplace(version.key, version.value);
  }
  for (OpId own = h.first_op(h.txn_of(id)); own < id; ++own.value) {
    if (sees_own(h, h.op(own), id)) own_.insert(h.op(own).key);
  }
}

// By timestamps, the read saw the last version up to which all were committed before the snapshot.
// A key that a version set does not list was absent. If several versions have the value that the
// read saw, it saw the first one of those that it may have seen, which are all the same to it.
std::optional<std::uint32_t> PredicateReads::Sight::seen(KeyId key) const {
  if (wrote_before(key)) return std::nullopt;
  if (snapshot_) {
    const auto& latest = reads_.latest_[key.index()];
    const auto later = std::lower_bound(latest.begin() + 1, latest.end(), *snapshot_);
    return static_cast<std::uint32_t>(later - latest.begin() - 1);
  }
  if (reads_.repeats_[key.index()]) {
    const std::vector<bool> may = reads_.listed(read_, key);
    const auto first = std::find(may.begin(), may.end(), true);
    return first == may.end() ? 0 : static_cast<std::uint32_t>(first - may.begin());
  }
  const auto place = [&](Value value) {
    const auto at = reads_.place_.find({key, value});
    return at == reads_.place_.end() ? std::nullopt : std::optional(at->second);
  };
  const auto member = version_set_.find(key);
  const std::uint32_t absence = place(Value::null()).value_or(0);
  if (member == version_set_.end()) return absence;
  return place(member->second).value_or(absence);
}

std::optional<PredicateReads::Places> PredicateReads::places(OpId id, AccessId write) const {
  if (!std::binary_search(reads_.begin(), reads_.end(), id)) return std::nullopt;
  const KeyId key = reading_.access(write).key;
  const auto all = versions(key);
  if (all.empty() || !ordered_[key.index()]) return std::nullopt;
  const auto seen = Sight(*this, id).seen(key);
  const auto written = std::find(all.begin() + 1, all.end(), write);
  if (!seen || written == all.end()) return std::nullopt;
  return Places{*seen, static_cast<std::uint32_t>(written - all.begin())};
}

std::optional<Value> PredicateReads::share(OpId id, KeyId key, std::uint32_t position) const {
  const PredicateRead& read = h_.predicate_read(id);
  if (!matches(id, key, position)) return std::nullopt;
  // A scan, a select, a count of rows, and an aggregate of keys, which never change.
  if (h_.op(id).kind != OpKind::Aggregate || !read.column.valid()) return Value::null();
  const Value cell = h_.cell(value(key, position), read.column);
  if (cell.is_null()) return std::nullopt;
  return read.aggregate == AggregateKind::Count ? Value::null() : cell;
}

// The position of the version that the transaction of the read wrote. What is behind it counts as a
// change, as the read cannot have seen that. kNone if there is none.
std::uint32_t PredicateReads::own_place(OpId id, KeyId key) const {
  const AccessId write = reading_.last_write(h_.txn_of(id), key);
  return write == kNoAccess ? kNone : position_[reading_.access(write).op.index()];
}

bool PredicateReads::changes(OpId id, KeyId key, std::uint32_t first, std::uint32_t last) const {
  for (std::uint32_t i = first + 1; i <= last; ++i) {
    if (share(id, key, i) != share(id, key, i - 1)) return true;
    if (i == own_place(id, key) + 1) return true;
  }
  return false;
}

bool PredicateReads::follows(OpId id, AccessId write) const {
  if (is_unplaced(id)) return rules_out(id, write, false);
  const auto at = places(id, write);
  if (!at || at->written > at->seen) return false;
  const KeyId key = reading_.access(write).key;
  const auto rows = h_.rows(h_.predicate_read(id));
  const KeyVersion seen{key, value(key, at->seen)};
  return changes(id, key, at->written - 1, at->seen) ||
         std::find(rows.begin(), rows.end(), seen) != rows.end();
}

bool PredicateReads::precedes(OpId id, AccessId write) const {
  if (is_unplaced(id)) return rules_out(id, write, true);
  const auto at = places(id, write);
  return at && at->written > at->seen &&
         changes(id, reading_.access(write).key, at->seen, at->written);
}

// ---- links ----

RowIndex::Version PredicateReads::row_version(KeyId key, std::uint32_t position) const {
  const AccessId write = versions(key)[position];
  return write == kNoAccess ? index_->initial(key) : index_->written(reading_.access(write).op);
}

std::vector<PredicateReads::KeyPosition> PredicateReads::matching(OpId id) const {
  std::vector<KeyPosition> out;
  if (h_.op(id).kind == OpKind::Scan) {
    const PredicateRead& scan = h_.predicate_read(id);
    auto key = std::partition_point(sorted_keys_.begin(), sorted_keys_.end(), [&](KeyId k) {
      return !scan.lower.is_null() && less(h_, h_.key_name(k), scan.lower);
    });
    for (; key != sorted_keys_.end() && in_range(h_, scan, *key); ++key) {
      for (std::uint32_t i = 0; i < versions_[key->index()].size(); ++i) {
        if (matches(id, *key, i)) out.push_back({*key, i});
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  const RowIndex::Cover cover = index_->cover(id);
  for (std::size_t k = 0; cover.everything && k < versions_.size(); ++k) {
    for (std::uint32_t i = 0; i < versions_[k].size(); ++i) {
      if (share(id, KeyId{k}, i)) out.push_back({KeyId{k}, i});
    }
  }
  for (const RowIndex::Interval& interval : cover.intervals) {
    for (std::uint32_t slot = interval.first; slot < interval.end; ++slot) {
      const RowIndex::Version version = index_->version(interval.column, slot);
      const KeyId key = index_->key(version);
      const bool initial = version == index_->initial(key);
      const std::uint32_t position = initial ? 0 : position_[version - h_.key_count()];
      if (position == kNone || versions(key).empty() || !share(id, key, position)) continue;
      out.push_back({key, position});
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Adds the links of one row, of which `matching` are all versions that have a share in the result.
void PredicateReads::link(OpId id, std::span<const KeyPosition> matching, std::uint32_t seen,
                          std::vector<Link>& out) const {
  const KeyId key = matching[0].key;
  const auto all = versions(key);
  const auto at = static_cast<std::size_t>(
      std::lower_bound(matching.begin(), matching.end(), KeyPosition{key, seen}) -
      matching.begin());
  if (at == matching.size() || matching[at].position != seen) {
    const std::uint32_t own = own_place(id, key);
    std::uint32_t since = at > 0 ? matching[at - 1].position + 1 : 0;
    if (own < seen) since = std::max(since, own + 1);
    if (since > 0) out.push_back({all[since], true});
    if (at < matching.size()) out.push_back({all[matching[at].position], false});
    return;
  }
  std::uint32_t first = seen;
  while (first > 0 && !changes(id, key, first - 1, first)) --first;
  if (first > 0) out.push_back({all[first], true});
  std::uint32_t next = seen + 1;
  while (next < all.size() && share(id, key, next - 1) == share(id, key, next)) ++next;
  if (next < all.size()) out.push_back({all[next], false});
}

std::vector<PredicateReads::Link> PredicateReads::links(OpId id) const {
  std::vector<Link> out;
  const Sight sight(*this, id);
  const std::vector<KeyPosition> all = matching(id);
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && all[end].key == all[first].key) ++end;
    const auto seen = sight.seen(all[first].key);
    if (seen) link(id, std::span(all).subspan(first, end - first), *seen, out);
  }
  return out;
}

// ---- faults ----

std::vector<PredicateReads::Fault> PredicateReads::faults(OpId id) const {
  std::vector<Fault> out;
  const PredicateRead& read = h_.predicate_read(id);
  if (!has_sets_ || !read.has_version_set) return out;
  absl::flat_hash_set<KeyId> returned;
  for (const KeyVersion& row : h_.rows(read)) returned.insert(row.key);
  const Sight sight(*this, id);
  for (const KeyVersion& version : h_.version_set(read)) {
    if (version.value.is_null() || returned.contains(version.key)) continue;
    if (versions(version.key).empty() || sight.wrote_before(version.key)) continue;
    add_fault(id, version, out);
  }
  for (const KeyId key : never_absent(id)) add_absence_fault(id, key, out);
  return out;
}

// The rows that may match, that the version set does not list, and that were never absent.
std::vector<KeyId> PredicateReads::never_absent(OpId id) const {
  std::vector<KeyId> out;
  const Sight sight(*this, id);
  for (const KeyPosition& place : matching(id)) {
    if (!out.empty() && out.back() == place.key) continue;
    if (sight.wrote_before(place.key) || sight.lists(place.key)) continue;
    if (!place_.contains({place.key, Value::null()})) out.push_back(place.key);
  }
  return out;
}

void PredicateReads::add_absence_fault(OpId id, KeyId key, std::vector<Fault>& out) const {
  const auto [last, aborted] = reading_.null_writes(key);
  const bool counts = last != kNoAccess && reading_.counts(reading_.access(last).txn);
  if (counts) {
    const bool own = reading_.access(last).txn == h_.txn_of(id);
    out.push_back(
        {own ? AnomalyKind::FutureRead : AnomalyKind::IntermediateRead, reading_.access(last).op});
  } else if (aborted != kNoAccess) {
    out.push_back({AnomalyKind::AbortedRead, reading_.access(aborted).op});
  } else {
    out.push_back({AnomalyKind::ThinAirRead, OpId{}});
  }
}

void PredicateReads::add_fault(OpId id, const KeyVersion& version, std::vector<Fault>& out) const {
  if (version.value == h_.initial(version.key)) return;
  const AccessId write = reading_.write_of(version.key, version.value);
  if (const auto at = place_.find({version.key, version.value}); at != place_.end()) {
    // Somebody left that value, whoever else wrote it and overwrote it, or aborted.
    const AccessId left = versions(version.key)[at->second];
    if (left == kNoAccess || reading_.access(left).txn != h_.txn_of(id)) return;
    const bool again = repeats_[version.key.index()];
    const std::vector<bool> may = again ? listed(id, version.key) : std::vector<bool>();
    if (std::find(may.begin(), may.end(), true) != may.end()) return;
  }
  if (write == kNoAccess) {
    out.push_back({AnomalyKind::ThinAirRead, OpId{}});
    return;
  }
  const Access& a = reading_.access(write);
  if (a.txn == h_.txn_of(id)) {
    out.push_back({AnomalyKind::FutureRead, a.op});
  } else if (h_.status(a.txn) == TxnStatus::Aborted) {
    out.push_back({AnomalyKind::AbortedRead, a.op});
  } else if (!reading_.counts(a.txn)) {
    out.push_back({AnomalyKind::ThinAirRead, OpId{}});
  } else if (!reading_.is_last(write)) {
    out.push_back({AnomalyKind::IntermediateRead, a.op});
  }
}

// Applies what the transaction wrote before the read.
void PredicateReads::apply_own(OpId read, Table& table) const {
  for (OpId id = h_.first_op(h_.txn_of(read)); id < read; ++id.value) {
    const Op op = h_.op(id);
    if (op.kind != OpKind::UndoneAppend && sees_own(h_, op, read)) table.apply_for_now(op);
  }
}

std::vector<OpId> PredicateReads::wrong_results() const {
  std::vector<std::pair<Clock::Moment, KeyPosition>> commits;
  for (std::size_t k = 0; k < versions_.size(); ++k) {
    for (std::uint32_t i = 1; i < versions_[k].size(); ++i) {
      commits.push_back({latest_[k][i], {KeyId{k}, i}});
    }
  }
  std::vector<std::pair<Clock::Moment, OpId>> reads;
  for (const OpId id : reads_) {
    if (h_.predicate_read(id).has_version_set) continue;
    reads.emplace_back(snapshot(h_.txn_of(id)), id);
  }
  std::vector<OpId> wrong;
  const bool ordered = std::find(ordered_.begin(), ordered_.end(), false) == ordered_.end();
  if (reads.empty() || !ordered) return wrong;
  std::sort(commits.begin(), commits.end());
  std::sort(reads.begin(), reads.end());
  Table table(h_, *index_);
  std::size_t next = 0;
  for (const auto& [seen, id] : reads) {
    for (; next < commits.size() && commits[next].first < seen; ++next) {
      table.put(row_version(commits[next].second.key, commits[next].second.position));
    }
    apply_own(id, table);
    if (!table.returned_right(id)) wrong.push_back(id);
    table.take_back();
  }
  std::sort(wrong.begin(), wrong.end());
  return wrong;
}

}  // namespace ouro::recheck
