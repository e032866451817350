#include "certify/predicate_reads.h"

#include <algorithm>

#include "history/value_order.h"

namespace ouro::recheck {

PredicateReads::PredicateReads(const Reading& reading) : reading_(reading), h_(reading.history()) {
  if (reading.evidence() != Evidence::Versions || h_.columns().predicate_reads.empty()) return;
  versions_.resize(h_.key_count());
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    if (!reading.is_list(KeyId{k})) versions_[k].push_back(kNoAccess);
  }
  for (const StatedOrder& order : reading.orders()) {
    auto& versions = versions_[order.key.index()];
    if (!order.complete || versions.size() != 1) continue;
    for (const AccessId write : order.writes) {
      const AccessId version = reading.last_write(write);
      if (reading.counts(reading.access(write).txn) && versions.back() != version) {
        versions.push_back(version);
      }
    }
  }
  latest_.resize(h_.key_count());
  for (std::size_t k = 0; k < h_.key_count(); ++k) note_places(KeyId{k});
  initial_ = initial_contents(h_);
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    for (OpId id = h_.first_op(txn); reading.counts(txn) && id < h_.end_op(txn); ++id.value) {
      const OpKind kind = h_.op(id).kind;
      if (kind != OpKind::Select && kind != OpKind::Aggregate) continue;
      const auto start = h_.start_ts(txn);
      const bool placed = start && h_.commit_ts(txn).value_or(*start) >= *start;
      if (placed || h_.predicate_read(id).has_version_set) reads_.push_back(id);
    }
  }
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

bool PredicateReads::matches(const PredicateRead& read, KeyId key, std::uint32_t position) const {
  return is_alive(key, position) &&
         evaluate(h_, read.predicate, key, value(key, position)) == Truth::True;
}

void PredicateReads::note_places(KeyId key) {
  const auto all = versions(key);
  auto& latest = latest_[key.index()];
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    place_.try_emplace({key, value(key, i)}, i);
    if (i == 0) {
      latest.emplace_back();  // The initial one is there for everybody.
      continue;
    }
    const Timestamp commit = h_.commit_ts(reading_.access(all[i]).txn).value_or(kNoTimestamp);
    latest.push_back(i == 1 ? commit : std::max(latest.back(), commit));
  }
}

PredicateReads::Sight::Sight(const PredicateReads& reads, OpId id) : reads_(reads) {
  const History& h = reads.h_;
  const PredicateRead& read = h.predicate_read(id);
  if (!read.has_version_set) start_ = *h.start_ts(h.txn_of(id));
  for (const KeyVersion& version : h.version_set(read)) {
    version_set_.try_emplace(version.key, version.value);
  }
  for (OpId own = h.first_op(h.txn_of(id)); own < id; ++own.value) {
    if (is_write(h.op(own).kind)) own_.insert(h.op(own).key);
  }
}

// By timestamps, the version before the first one that committed later. What a version set does not
// have is absent, which is the first version that is null.
std::optional<std::uint32_t> PredicateReads::Sight::seen(KeyId key) const {
  if (wrote_before(key)) return std::nullopt;
  if (start_) {
    const auto& latest = reads_.latest_[key.index()];
    const auto later = std::upper_bound(latest.begin() + 1, latest.end(), *start_);
    return static_cast<std::uint32_t>(later - latest.begin() - 1);
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
  if (all.empty()) return std::nullopt;
  const auto seen = Sight(*this, id).seen(key);
  const auto written = std::find(all.begin() + 1, all.end(), write);
  if (!seen || written == all.end()) return std::nullopt;
  return Places{*seen, static_cast<std::uint32_t>(written - all.begin())};
}

bool PredicateReads::changes(OpId id, KeyId key, std::uint32_t first, std::uint32_t last) const {
  const PredicateRead& read = h_.predicate_read(id);
  for (std::uint32_t i = first + 1; i <= last; ++i) {
    if (matches(read, key, i) != matches(read, key, i - 1)) return true;
  }
  return false;
}

bool PredicateReads::follows(OpId id, AccessId write) const {
  const auto at = places(id, write);
  if (!at || at->written > at->seen) return false;
  const KeyId key = reading_.access(write).key;
  const auto rows = h_.rows(h_.predicate_read(id));
  const KeyVersion seen{key, value(key, at->seen)};
  return changes(id, key, at->written - 1, at->seen) ||
         std::find(rows.begin(), rows.end(), seen) != rows.end();
}

bool PredicateReads::precedes(OpId id, AccessId write) const {
  const auto at = places(id, write);
  return at && at->written > at->seen &&
         changes(id, reading_.access(write).key, at->seen, at->written);
}

std::vector<PredicateReads::Link> PredicateReads::links(OpId id) const {
  std::vector<Link> out;
  const PredicateRead& read = h_.predicate_read(id);
  const Sight sight(*this, id);
  for (std::size_t k = 0; k < versions_.size(); ++k) {
    const KeyId key{k};
    const auto all = versions(key);
    if (all.size() < 2) continue;
    const auto seen = sight.seen(key);
    if (!seen) continue;
    const bool matched = matches(read, key, *seen);
    std::uint32_t first = *seen;
    while (first > 0 && matches(read, key, first - 1) == matched) --first;
    if (first > 0) out.push_back({all[first], true});
    std::uint32_t next = *seen + 1;
    while (next < all.size() && matches(read, key, next) == matched) ++next;
    if (next < all.size()) out.push_back({all[next], false});
  }
  return out;
}

std::vector<PredicateReads::Fault> PredicateReads::faults(OpId id) const {
  std::vector<Fault> out;
  const PredicateRead& read = h_.predicate_read(id);
  if (!read.has_version_set) {
    if (!returned_snapshot(id)) out.push_back({AnomalyKind::ResultSetMismatch, OpId{}});
    return out;
  }
  const auto rows = h_.rows(read);
  const Sight sight(*this, id);
  for (const KeyVersion& version : h_.version_set(read)) {
    const bool returned = std::any_of(
        rows.begin(), rows.end(), [&](const KeyVersion& row) { return row.key == version.key; });
    if (version.value.is_null() || returned || versions(version.key).empty()) continue;
    if (!sight.wrote_before(version.key)) add_fault(id, version, out);
  }
  return out;
}

void PredicateReads::add_fault(OpId id, const KeyVersion& version, std::vector<Fault>& out) const {
  if (version.value == h_.initial(version.key)) return;
  const AccessId write = reading_.write_of(version.key, version.value);
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

// Whether the result is what the transaction's snapshot, with its own writes, gives.
bool PredicateReads::returned_snapshot(OpId id) const {
  std::vector<Content> contents = initial_;
  const Sight sight(*this, id);
  for (std::size_t k = 0; k < versions_.size(); ++k) {
    const KeyId key{k};
    const auto seen = versions(key).empty() ? std::nullopt : sight.seen(key);
    if (!seen) continue;
    contents[k].value = value(key, *seen);
    contents[k].row = is_alive(key, *seen);
  }
  for (OpId own = h_.first_op(h_.txn_of(id)); own < id; ++own.value) {
    if (is_write(h_.op(own).kind)) apply(h_.op(own), contents[h_.op(own).key.index()]);
  }
  return returned_right(h_, id, contents);
}

}  // namespace ouro::recheck
