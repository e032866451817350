#include "certify/flaws.h"

#include <fmt/format.h>

#include <algorithm>

#include "certify/rows.h"
#include "certify/rules.h"
#include "certify/undone.h"
#include "certify/values.h"
#include "history/columns.h"

namespace ouro::recheck {

Flaws::Flaws(const Reading& reading, const PredicateReads& predicates)
    : reading_(reading),
      h_(reading.history()),
      predicates_(predicates),
      wrong_results_(predicates.wrong_results()) {
  for (const Flaw& flaw : reading.flaws()) {
    const OpId other = flaw.other == kNoAccess ? flaw.undone : reading.access(flaw.other).op;
    known_.insert({flaw.kind, reading.access(flaw.read).op, other});
    if (flaw.kind == AnomalyKind::NonRepeatableRead && !is_phantom(flaw)) {
      returned_twice_.insert({reading.access(flaw.read).op, other});
    }
  }
  for (const UndoneFlaw& flaw : reading.undone_flaws()) {
    known_.insert({AnomalyKind::Internal, flaw.read, flaw.write});
  }
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    const bool deletes = op.kind == OpKind::Delete || op.kind == OpKind::UndoneDelete;
    if (deletes) tombstones_.insert({op.key, op.value});
  }
  find_misplaced();
}

// Notes the writes that contradict version orders: listed, but of a transaction that does not
// count; or the last one of a transaction that counts, and missing in a complete order.
void Flaws::find_misplaced() {
  std::vector<AccessId> misplaced;
  std::vector<bool> complete(h_.key_count(), false);
  absl::flat_hash_set<AccessId> listed;
  for (const StatedOrder& order : reading_.orders()) {
    for (const AccessId write : order.writes) {
      if (!reading_.counts(reading_.access(write).txn)) misplaced.push_back(write);
      if (order.complete) listed.insert(write);
    }
    if (order.complete) complete[order.key.index()] = true;
  }
  for (AccessId id = 0; id < reading_.access_count(); ++id) {
    const Access& a = reading_.access(id);
    if (!reading_.is_write(id) || !complete[a.key.index()] || !reading_.is_last(id)) continue;
    if (reading_.counts(a.txn) && !listed.contains(id)) misplaced.push_back(id);
  }
  for (const AccessId write : misplaced) {
    known_.insert({AnomalyKind::VersionOrderMismatch, reading_.access(write).op, OpId{}});
    if (first_misplaced_.empty())
      first_misplaced_ = h_.place(reading_.access(write).op).to_string();
  }
}

bool Flaws::is_counted(OpId op) const { return reading_.counts(h_.txn_of(op)); }

// Two reads of a key may differ at some levels; at others only if one of them left the key out.
bool Flaws::forbids(Level level, AnomalyKind kind, OpId read, bool phantom) const {
  const Rules rules = rules_of(h_, level, h_.txn_of(read));
  return kind != AnomalyKind::NonRepeatableRead ||
         (!rules.rereads_differ && !(rules.phantoms && phantom));
}

bool Flaws::is_phantom(const Flaw& flaw) const {
  return flaw.kind == AnomalyKind::NonRepeatableRead &&
         (reading_.is_phantom(flaw.read) || reading_.is_phantom(flaw.other));
}

std::string Flaws::complaint(const Anomaly& anomaly, Level level) const {
  const std::string name(info(anomaly.kind).name);
  if (anomaly.ops.empty() || anomaly.ops.size() > 2) return name + " without its operations";
  for (const OpId op : anomaly.ops) {
    if (!op.valid() || op.index() >= h_.op_count()) return name + " of unknown operations";
  }
  const OpId read = anomaly.ops[0];
  const OpId other = anomaly.ops.size() == 2 ? anomaly.ops[1] : OpId{};
  const bool phantom =
      anomaly.kind == AnomalyKind::NonRepeatableRead && !returned_twice_.contains({read, other});
  if (!forbids(level, anomaly.kind, read, phantom))
    return "its level does not forbid such a " + name;
  bool true_word = false;
  if (anomaly.kind == AnomalyKind::ResultSetMismatch) {
    true_word = !other.valid() && is_counted(read) &&
                (mismatches(read) || is_fault(anomaly) || predicates_.is_impossible(read) ||
                 known_.contains({anomaly.kind, read, other}));
  } else if (anomaly.kind == AnomalyKind::IncompatibleOrder) {
    true_word =
        other.valid() && is_counted(read) && (disagree(read, other) || swapped(read, other));
  } else {
    true_word = known_.contains({anomaly.kind, read, other}) || is_fault(anomaly);
    if (!true_word && anomaly.kind == AnomalyKind::Internal) {
      const auto own = contradicted(read);
      true_word = std::find(own.begin(), own.end(), other) != own.end();
    }
  }
  return true_word ? "" : name + " that the history does not show";
}

// Whether an anomaly is about the version set of a predicate read, or about its result, by version
// orders; and is true.
bool Flaws::is_fault(const Anomaly& anomaly) const {
  const auto is_among = [&](std::span<const OpId> reads) {
    return std::binary_search(reads.begin(), reads.end(), anomaly.ops[0]);
  };
  if (!is_among(predicates_.reads()) && !is_among(predicates_.unplaced())) return false;
  const OpId other = anomaly.ops.size() == 2 ? anomaly.ops[1] : OpId{};
  if (anomaly.kind == AnomalyKind::ResultSetMismatch) {
    return std::binary_search(wrong_results_.begin(), wrong_results_.end(), anomaly.ops[0]);
  }
  const auto faults = predicates_.faults(anomaly.ops[0]);
  return std::any_of(faults.begin(), faults.end(), [&](const PredicateReads::Fault& fault) {
    return fault.kind == anomaly.kind && fault.write == other;
  });
}

std::string Flaws::first_forbidden(Level level) const {
  for (const Flaw& flaw : reading_.flaws()) {
    const OpId read = reading_.access(flaw.read).op;
    if (!forbids(level, flaw.kind, read, is_phantom(flaw))) continue;
    return fmt::format("{}: {}", h_.place(reading_.access(flaw.read).op).to_string(),
                       info(flaw.kind).name);
  }
  if (!reading_.undone_flaws().empty()) {
    return fmt::format("{}: {}", h_.place(reading_.undone_flaws()[0].read).to_string(),
                       info(AnomalyKind::Internal).name);
  }
  if (!first_misplaced_.empty()) {
    return fmt::format("{}: {}", first_misplaced_, info(AnomalyKind::VersionOrderMismatch).name);
  }
  if (!wrong_results_.empty()) {
    return fmt::format("{}: {}", h_.place(wrong_results_[0]).to_string(),
                       info(AnomalyKind::ResultSetMismatch).name);
  }
  for (const auto& reads : {predicates_.reads(), predicates_.unplaced()}) {
    for (const OpId read : reads) {
      const auto faults = predicates_.faults(read);
      if (faults.empty()) continue;
      return fmt::format("{}: {}", h_.place(read).to_string(), info(faults[0].kind).name);
    }
  }
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    if (!is_predicate_read(columns_of(h_).op_kind[i])) continue;
    const bool mismatch = is_counted(OpId{i}) && mismatches(OpId{i});
    if (!mismatch && contradicted(OpId{i}).empty()) continue;
    return fmt::format(
        "{}: {}", h_.place(OpId{i}).to_string(),
        info(mismatch ? AnomalyKind::ResultSetMismatch : AnomalyKind::Internal).name);
  }
  return "";
}

// ---- lists ----

// Whether two counted list reads of a key show different elements at the same place.
bool Flaws::disagree(OpId a, OpId b) const {
  if (!is_counted(b)) return false;
  const auto [a_first, a_end] = reading_.accesses_of(a);
  const auto [b_first, b_end] = reading_.accesses_of(b);
  for (AccessId i = a_first; i < a_end; ++i) {
    for (AccessId j = b_first; j < b_end; ++j) {
      const Access& one = reading_.access(i);
      const Access& two = reading_.access(j);
      if (one.key != two.key || !one.value.is_list() || !two.value.is_list()) continue;
      const auto shared = std::min(one.value.length(), two.value.length());
      if (shared == 0) continue;
      if (!same_values(h_.list(one.value).first(shared), h_.list(two.value).first(shared))) {
        return true;
      }
    }
  }
  return false;
}

// Whether a list shows an append, but not before it the one that the same transaction made before.
bool Flaws::swapped(OpId read, OpId append) const {
  const auto [write, write_end] = reading_.accesses_of(append);
  if (write == write_end || reading_.access(write).kind != OpKind::Append) return false;
  const Access& late = reading_.access(write);
  AccessId before = kNoAccess;
  for (AccessId id = reading_.first(late.txn); id < write; ++id) {
    if (reading_.is_write(id) && reading_.access(id).key == late.key) before = id;
  }
  if (before == kNoAccess) return false;
  const auto [first, end] = reading_.accesses_of(read);
  for (AccessId id = first; id < end; ++id) {
    const Access& a = reading_.access(id);
    if (a.key != late.key || !a.value.is_list() || a.value.length() == 0) continue;
    const auto shown = reading_.appends_of(a.value);
    const auto at = std::find(shown.begin(), shown.end(), write);
    if (at == shown.end() || std::find(shown.begin(), at, before) != at) continue;
    bool open = false;  // Whether it may be an open element.
    for (std::size_t p = 0; p < a.value.length() && !open; ++p) {
      open = reading_.is_open_element(a.value, p) &&
             h_.list(a.value)[p] == reading_.access(before).value;
    }
    if (!open) return true;
  }
  return false;
}

// ---- result sets ----

// Whether it is a row; lists and tombstones are none.
bool Flaws::alive(const KeyVersion& version) const {
  return !reading_.is_list(version.key) && !version.value.is_null() &&
         !tombstones_.contains({version.key, version.value});
}

// Whether a predicate read shows by itself that its result is wrong.
bool Flaws::mismatches(OpId id) const {
  if (!is_predicate_read(h_.op(id).kind)) return false;
  if (!reading_.may_add_up(h_.op(id))) return true;
  return h_.predicate_read(id).has_version_set ? !is_implied(id) : !is_possible(id);
}

Flaws::OwnWrites Flaws::own_writes(OpId op) const {
  OwnWrites own;
  for (OpId id = h_.first_op(h_.txn_of(op)); id < op; ++id.value) {
    const Op write = h_.op(id);
    const bool appends = write.kind == OpKind::Append || write.kind == OpKind::UndoneAppend;
    if (!appends && sees_own(h_, write, op)) own[write.key] = id;
  }
  return own;
}

// Whether the result is what the version set gives, where own writes replace the versions of their
// keys.
bool Flaws::is_implied(OpId id) const {
  const PredicateRead& read = h_.predicate_read(id);
  const OwnWrites own = own_writes(id);
  std::vector<KeyVersion> seen;
  for (const KeyVersion& version : h_.version_set(read)) {
    if (!own.contains(version.key)) seen.push_back(version);
  }
  for (const auto& [key, write] : own) {
    const OpKind kind = h_.op(write).kind;
    if (kind != OpKind::Delete && kind != OpKind::UndoneDelete)
      seen.push_back({key, h_.op(write).value});
  }
  std::erase_if(seen, [&](const KeyVersion& version) {
    return !alive(version) || !selects(h_, id, version.key, version.value);
  });
  if (h_.op(id).kind == OpKind::Aggregate) {
    return is_result(h_, read, seen);
  }
  std::vector<KeyVersion> returned;
  for (const KeyVersion& row : h_.rows(read)) {
    if (alive(row)) returned.push_back(row);
  }
  std::sort(seen.begin(), seen.end());
  std::sort(returned.begin(), returned.end());
  return seen == returned;
}

// Whether any database could give these rows as the result: all are selected, each once.
bool Flaws::is_possible(OpId id) const {
  absl::flat_hash_set<KeyId> keys;
  const auto rows = h_.rows(h_.predicate_read(id));
  return std::all_of(rows.begin(), rows.end(), [&](const KeyVersion& row) {
    if (!alive(row)) return true;
    return selects(h_, id, row.key, row.value) && keys.insert(row.key).second;
  });
}

std::vector<OpId> Flaws::contradicted(OpId id) const {
  std::vector<OpId> out;
  if (!is_predicate_read(h_.op(id).kind) || !is_counted(id)) return out;
  const PredicateRead& read = h_.predicate_read(id);
  if (!read.has_version_set) return out;
  const OwnWrites own = own_writes(id);
  const auto rows = h_.rows(read);
  for (const KeyVersion& version : h_.version_set(read)) {
    const auto mine = own.find(version.key);
    if (mine == own.end() || version.value.is_null()) continue;
    const bool returned = std::find(rows.begin(), rows.end(), version) != rows.end();
    if (!returned && version.value != h_.op(mine->second).value) out.push_back(mine->second);
  }
  return out;
}

}  // namespace ouro::recheck
