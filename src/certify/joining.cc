// Joins reads to the writes they returned, transaction by transaction.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "certify/reading.h"
#include "certify/undone.h"
#include "certify/values.h"
#include "history/columns.h"

namespace ouro::recheck {

Status Reading::join_reads() {
  own_shown_.assign(accesses_.size(), 0);
  trunks_.assign(columns_of(*h_).trunk_end.size(), Trunk{});
  elements_.assign(columns_of(*h_).elements.size(), kNoAccess);
  open_elements_.assign(elements_.size(), false);
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    if (auto status = join_trunk(id); !status) return status;
  }
  for (std::size_t t = 0; t < h_->txn_count(); ++t) {
    if (h_->status(TxnId{t}) == TxnStatus::Aborted) continue;
    own_.clear();
    for (AccessId id = txn_first_[t]; id < txn_first_[t + 1]; ++id) {
      if (is_write(id)) own_[accesses_[id].key].all.push_back(id);
    }
    for (AccessId id = txn_first_[t]; id < txn_first_[t + 1]; ++id) {
      const Access& a = accesses_[id];
      if (is_write(id)) {
        ++own_[a.key].done;
      } else if (!a.value.is_unobserved()) {
        if (is_untold(id)) {
          join_untold(id);
        } else if (is_open_access(id)) {
          join_open(id);
        } else if (is_list(a.key)) {
          join_list(id);
        } else {
          join_register(id);
        }
      }
    }
  }
  return {};
}

// ---- registers ----

// Joins a read of a register: to an own write before it, or to a write of another transaction.
void Reading::join_register(AccessId read) {
  const Access& a = accesses_[read];
  Own& own = own_[a.key];
  if (const OpId mine = undone_own(*h_, a.op, a.key); mine.valid()) {
    const bool gone = h_->op(mine).kind == OpKind::UndoneDelete && is_absence(read);
    if (h_->op(mine).value != a.value && !gone) undone_flaws_.push_back({a.op, mine});
    return;
  }
  if (own.done > 0) {
    const AccessId mine = own.all[own.done - 1];
    if (accesses_[mine].value == a.value) return;
    if (accesses_[mine].kind == OpKind::Delete && is_absence(read)) return;
    AccessId later = kNoAccess;
    for (std::size_t i = own.done; i < own.all.size(); ++i) {
      if (accesses_[own.all[i]].value == a.value && !a.value.is_null()) later = own.all[i];
    }
    const bool future = later != kNoAccess;
    flaw(future ? AnomalyKind::FutureRead : AnomalyKind::Internal, read, future ? later : mine);
    return;
  }
  if (const Possible versions = possible(read); versions.count < 2 || !take_said(read)) {
    source_[read] = source_of(read, versions);
  }
  compare_untold(read);
  if (own.read != kNoAccess && seen_value(own.read) != seen_value(read)) {
    flaw(AnomalyKind::NonRepeatableRead, read, own.read);
  } else if (own.missed != kNoAccess && is_row(read)) {
    flaw(AnomalyKind::NonRepeatableRead, read, own.missed);
  }
  for (const AccessId open : own.open) {
    if (accesses_[open].value == seen_value(read)) flaw(AnomalyKind::NonRepeatableRead, read, open);
  }
  own.read = read;
}

// ---- compare-and-sets that failed ----

// Joins a compare-and-set that failed: to what `sources` say that it read, if they do.
void Reading::join_open(AccessId read) {
  const Access& a = accesses_[read];
  Own& own = own_[a.key];
  if (own.done > 0) {
    const AccessId mine = own.all[own.done - 1];
    if (accesses_[mine].value == a.value) flaw(AnomalyKind::Internal, read, mine);
    return;
  }
  if (!take_said(read)) {
    if (own.read != kNoAccess && seen_value(own.read) == a.value) {
      flaw(AnomalyKind::NonRepeatableRead, read, own.read);
    }
    own.open.push_back(read);
    if (candidates(read).empty()) flaw(AnomalyKind::ThinAirRead, read, kNoAccess);
    return;
  }
  compare_untold(read);
  if (own.read != kNoAccess && seen_value(own.read) != seen_value(read)) {
    flaw(AnomalyKind::NonRepeatableRead, read, own.read);
  }
  own.read = read;
}

// ---- keys that selects and aggregates do not tell of ----

// Joins such a read to what `sources` say, or to the only version that it may have seen. Behind an
// own write it saw that, and its result is judged with it.
void Reading::join_untold(AccessId read) {
  Own& own = own_[accesses_[read].key];
  const bool undone = undone_own(*h_, accesses_[read].op, accesses_[read].key).valid();
  if (own.done > 0 || undone) return;
  const bool scan = h_->op(accesses_[read].op).kind == OpKind::Scan;
  if (scan && own.read != kNoAccess && is_row(own.read)) {
    flaw(AnomalyKind::NonRepeatableRead, read, own.read);
  }
  if (take_said(read)) return compare_untold(read);
  const auto versions = candidates(read);
  if (versions.empty() && scan) {
    source_[read] = source_of(read, impossible_absence(read));
  } else if (versions.empty()) {
    flaw(AnomalyKind::ResultSetMismatch, read, kNoAccess);
  }
  if (versions.size() != 1) {
    if (scan && source_[read] == kNowhere) own.missed = read;
    return;
  }
  source_[read] =
      versions[0] == kInitialTxn ? kNoAccess : last_write(versions[0], accesses_[read].key);
  compare_untold(read);
}

// Whether a read saw what a scan would have listed.
bool Reading::is_row(AccessId read) const {
  const Value value = seen_value(read);
  return is_listed(value, tombstones_.contains({accesses_[read].key, value}));
}

// Of a key that a scan did not list although nobody left it absent: who deleted it all the same,
// but wrote it again, aborted, or did so later in the transaction of the scan.
Reading::Possible Reading::impossible_absence(AccessId read) const {
  const Access& a = accesses_[read];
  Possible out;
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    const Access& write = accesses_[id];
    if (!is_write(id) || write.key != a.key) continue;
    if (is_listed(write.value, write.kind == OpKind::Delete)) continue;
    if (write.txn == a.txn) {
      out.own = id;
    } else if (status(id) == TxnStatus::Aborted) {
      if (write.value.is_null()) out.aborted = id;
    } else {
      out.intermediate = id;
    }
  }
  return out;
}

// Notes that a read and the one before it saw two versions, if one of them is of an untold key.
void Reading::compare_untold(AccessId read) {
  if (untold_.empty() || source_[read] == kNowhere) return;
  AccessId& seen = own_[accesses_[read].key].seen;
  const AccessId before = seen;
  seen = read;
  if (before == kNoAccess || source_[before] == source_[read]) return;
  if (is_untold(before) || is_untold(read)) flaw(AnomalyKind::NonRepeatableRead, read, before);
}

// Gives a read the source that was said; false if none was.
bool Reading::take_said(AccessId read) {
  const Access& a = accesses_[read];
  const auto said = said_.find({a.op, a.key});
  if (said == said_.end()) return false;
  source_[read] = said->second == kInitialTxn ? kNoAccess : last_write(said->second, a.key);
  return true;
}

AccessId Reading::read_of(OpId op, KeyId key) const {
  if (!op.valid() || op.index() >= h_->op_count()) return kNoAccess;
  const auto [first, end] = accesses_of(op);
  for (AccessId id = first; id < end; ++id) {
    if (!is_write(id) && accesses_[id].key == key) return id;
  }
  return kNoAccess;
}

bool Reading::is_open(AccessId read) const {
  const Access& a = accesses_[read];
  if (is_write(read) || status(read) == TxnStatus::Aborted || is_list(a.key)) return false;
  if (a.value.is_unobserved()) return false;
  // By version orders, keys that the transaction wrote before are told.
  if (undone_own(*h_, a.op, a.key).valid()) return false;
  if (is_untold(read) && evidence_ == Evidence::Versions) return candidates(read).size() > 1;
  for (AccessId before = first(a.txn); before < read; ++before) {
    if (is_write(before) && accesses_[before].key == a.key) return false;
  }
  if (is_untold(read)) return candidates(read).size() > 1;
  return is_open_access(read) || possible(read).count > 1;
}

std::vector<TxnId> Reading::candidates(AccessId read) const {
  std::vector<TxnId> out;
  if (is_candidate(read, kInitialTxn)) out.push_back(kInitialTxn);
  for (const AccessId write : writes_of_.at(accesses_[read].key)) {
    if (is_candidate(read, accesses_[write].txn)) out.push_back(accesses_[write].txn);
  }
  return out;
}

bool Reading::is_candidate(AccessId read, TxnId writer) const {
  const Access& a = accesses_[read];
  const auto fits = [&](Value held, bool deleted) {
    if (!is_untold(read)) return (held == a.value) != is_open_access(read);
    if (h_->op(a.op).kind == OpKind::Scan) return !is_listed(held, deleted);
    if (h_->op(a.op).kind == OpKind::Aggregate || deleted || held.is_null()) return true;
    return !is_settled(*h_, h_->predicate_read(a.op).predicate, a.key, held);
  };
  if (writer == kInitialTxn) return fits(h_->initial(a.key), false);
  if (writer.index() >= h_->txn_count() || h_->status(writer) == TxnStatus::Aborted) return false;
  const AccessId write = last_write(writer, a.key);
  return writer != a.txn && write != kNoAccess &&
         fits(accesses_[write].value, accesses_[write].kind == OpKind::Delete);
}

bool Reading::has_open() const {
  for (AccessId id = 0; id < accesses_.size(); ++id) {
    const Access& a = accesses_[id];
    if (!is_write(id) && counts(a.txn) && !said_.contains({a.op, a.key}) && is_open(id)) {
      return true;
    }
  }
  if (std::find(open_elements_.begin(), open_elements_.end(), true) == open_elements_.end()) {
    return false;
  }
  for (const Access& a : accesses_) {
    if (!a.value.is_list() || !counts(a.txn)) continue;
    for (std::size_t p = 0; p < a.value.length(); ++p) {
      if (is_open_element(a.value, p)) return true;
    }
  }
  return false;
}

// The value that a read saw. An open read saw that of its source, and so did a scan that passed
// over a tombstone.
Value Reading::seen_value(AccessId read) const {
  if (is_open_access(read) && source_[read] == kNoAccess) return h_->initial(accesses_[read].key);
  if (is_open_access(read)) return accesses_[source_[read]].value;
  const bool passed = is_absence(read) && is_external(read) && source_[read] != kNoAccess;
  return accesses_[passed ? source_[read] : read].value;
}

// What a read that its transaction's own writes do not explain may have returned. Counts no further
// than two.
Reading::Possible Reading::possible(AccessId read) const {
  const Access& a = accesses_[read];
  Possible out;
  if (a.value == h_->initial(a.key)) out.count = 1;
  const auto consider = [&](AccessId write) {
    if (accesses_[write].txn == a.txn) {
      out.own = write;
    } else if (is_last(write)) {
      ++out.count;
      out.one = write;
    } else if (out.intermediate == kNoAccess) {
      out.intermediate = write;
    }
  };
  AccessId only = kNoAccess;
  if (const auto many = repeated_.find({a.key, a.value}); many != repeated_.end()) {
    for (auto write = many->second.begin(); write != many->second.end() && out.count < 2; ++write) {
      consider(*write);
    }
  } else if (a.value.is_null()) {
    std::tie(only, out.aborted) = null_writes(a.key);
  } else {
    only = write_of(a.key, a.value);
  }
  if (only != kNoAccess && status(only) == TxnStatus::Aborted && accesses_[only].txn != a.txn) {
    out.aborted = only;
  } else if (only != kNoAccess) {
    consider(only);
  }
  return out;
}

// The source of a read; kNowhere if it is open or wrong, which is noted.
AccessId Reading::source_of(AccessId read, const Possible& possible) {
  if (possible.count > 1) return kNowhere;
  if (possible.count == 1) return possible.one;
  if (possible.intermediate != kNoAccess) return joined(read, possible.intermediate);
  if (possible.own != kNoAccess) return joined(read, possible.own);
  const Access& a = accesses_[read];
  const bool written = possible.aborted != kNoAccess || undone_.contains({a.key, a.value});
  flaw_of_value(written ? AnomalyKind::AbortedRead : AnomalyKind::ThinAirRead, read,
                possible.aborted, a.value);
  return kNowhere;
}

// The source of `read`, which returned `write`, of a transaction that did not abort.
AccessId Reading::joined(AccessId read, AccessId write) {
  if (accesses_[write].txn == accesses_[read].txn) {
    flaw(AnomalyKind::FutureRead, read, write);
    return kNowhere;
  }
  if (!is_last(write)) flaw(AnomalyKind::IntermediateRead, read, write);
  return last_write(write);
}

// ---- lists ----

// Finds the append of each element of a list's trunk, unless that is done.
Status Reading::join_trunk(AccessId read) {
  const Access& a = accesses_[read];
  if (!a.value.is_list() || a.value.length() == 0) return {};
  Trunk& trunk = trunks_[a.value.trunk()];
  if (trunk.key == a.key) return {};
  if (trunk.key.valid()) return error_at(read, "lists of two keys share their elements");
  trunk.key = a.key;
  const std::size_t first = first_element(a.value);
  const std::size_t count = columns_of(*h_).trunk_end[a.value.trunk()] - first;
  for (std::size_t p = 0; p < count; ++p) {
    if (repeated_elements_.repeats(a.key, columns_of(*h_).elements[first + p])) {
      join_repeated(a.key, p, first, trunk);
      const AccessId append = elements_[first + p];
      if (append != kNoAccess && !position_.try_emplace({a.value.trunk(), append}, p).second) {
        trunk.duplicate = std::min(trunk.duplicate, p);
      }
      continue;
    }
    const auto found = written_.find({a.key, columns_of(*h_).elements[first + p]});
    if (found == written_.end()) {
      const auto undone = undone_.find({a.key, columns_of(*h_).elements[first + p]});
      if (undone == undone_.end()) {
        trunk.unwritten = std::min(trunk.unwritten, p);
        continue;
      }
      trunk.aborted = std::min(trunk.aborted, p);
      if (!undone_shown_.insert({a.value.trunk(), undone->second}).second) {
        trunk.duplicate = std::min(trunk.duplicate, p);
      }
      continue;
    }
    elements_[first + p] = found->second;
    if (status(found->second) == TxnStatus::Aborted) trunk.aborted = std::min(trunk.aborted, p);
    if (!position_.try_emplace({a.value.trunk(), found->second}, p).second) {
      trunk.duplicate = std::min(trunk.duplicate, p);
    }
  }
  return {};
}

// Finds the append of a repeated element of a trunk whose elements begin at `first`: what a source
// says, or the only one that it may be. Of a transaction, they are its appends in their order.
void Reading::join_repeated(KeyId key, std::size_t position, std::size_t first, Trunk& trunk) {
  const Value element = columns_of(*h_).elements[first + position];
  const auto& all = repeated_elements_.appends(key, element);
  const auto access = [&](OpId append) { return op_first_[append.index()]; };
  if (trunk.shown[element]++ >= all.size()) {
    trunk.duplicate = std::min(trunk.duplicate, position);
    elements_[first + position] = access(all.back());
    return;
  }
  const auto said = said_elements_.find({key, position});
  const auto possible = repeated_elements_.candidates(key, element, position);
  const bool open = said == said_elements_.end() && possible.size() > 1;
  open_elements_[first + position] = open;
  if (open) return;
  const TxnId txn = possible.size() > 1 ? said->second : possible[0];
  std::size_t& shown = trunk.shown_of[{element, txn}];
  OpId append = repeated_elements_.append(key, element, txn, shown);
  if (append.valid()) {
    ++shown;
  } else {
    trunk.duplicate = std::min(trunk.duplicate, position);
    if (shown > 0) append = repeated_elements_.append(key, element, txn, shown - 1);
  }
  if (append.valid()) elements_[first + position] = access(append);
}

std::vector<TxnId> Reading::candidates(OpId read, KeyId key, std::uint32_t element) const {
  const AccessId access = read_of(read, key);
  if (access == kNoAccess || !is_list(key)) return {};
  const Value list = accesses_[access].value;
  if (!list.is_list() || element == 0 || element > list.length()) return {};
  if (!is_open_element(list, element - 1)) return {};
  return repeated_elements_.candidates(key, h_->list(list)[element - 1], element - 1);
}

void Reading::join_list(AccessId read) {
  const Access& a = accesses_[read];
  Own& own = own_[a.key];
  if (!own_appends_fit(read, own)) return;
  own_shown_[read] = static_cast<std::uint32_t>(own.done);
  const std::size_t count = others(read);
  if (own.read != kNoAccess) {
    const Value before = accesses_[own.read].value;
    const bool same_trunk = count == 0 || before.trunk() == a.value.trunk();
    const bool same =
        count == own.others_at_read &&
        (same_trunk || same_values(h_->list(before).first(count), h_->list(a.value).first(count)));
    if (!same) {
      flaw(own.done == own.done_at_read ? AnomalyKind::NonRepeatableRead : AnomalyKind::Internal,
           read, own.read);
    }
  }
  source_[read] = list_source(read, count);
  own.read = read;
  own.done_at_read = own.done;
  own.others_at_read = count;
}

// Whether a list ends with what its transaction appended before, and shows nothing else that it
// appended. Notes a flaw if not.
bool Reading::own_appends_fit(AccessId read, const Own& own) {
  const Value list = accesses_[read].value;
  const std::size_t length = list.is_list() ? list.length() : 0;
  AccessId future = kNoAccess;
  std::size_t future_at = length;
  bool fits = length >= own.done;
  for (std::size_t i = 0; i < own.all.size() && length > 0; ++i) {
    const auto found = position_.find({list.trunk(), own.all[i]});
    const bool shown = found != position_.end() && found->second < length;
    if (i >= own.done && shown && found->second < future_at) {
      future = own.all[i];
      future_at = found->second;
    }
    if (i >= own.done || !fits) continue;
    const std::size_t place = length - own.done + i;
    const bool open = is_open_element(list, place);
    fits = open ? !shown && h_->list(list)[place] == accesses_[own.all[i]].value
                : shown && found->second == place;
  }
  if (future != kNoAccess) {
    flaw(AnomalyKind::FutureRead, read, future);
    return false;
  }
  if (!fits) flaw(AnomalyKind::Internal, read, own.all[own.done - 1]);
  return fits;
}

// The source of a list whose first `count` elements others appended.
AccessId Reading::list_source(AccessId read, std::size_t count) {
  if (count == 0) return kNoAccess;
  const Value list = accesses_[read].value;
  const Trunk& trunk = trunks_[list.trunk()];
  const auto appends = appends_of(list);
  if (trunk.duplicate < list.length()) {
    flaw_of_value(AnomalyKind::DuplicateElements, read, appends[trunk.duplicate],
                  h_->list(list)[trunk.duplicate]);
  }
  if (trunk.unwritten < count) flaw(AnomalyKind::ThinAirRead, read, kNoAccess);
  if (trunk.aborted < count) {
    flaw_of_value(AnomalyKind::AbortedRead, read, appends[trunk.aborted],
                  h_->list(list)[trunk.aborted]);
  }
  if (trunk.unwritten < count || trunk.aborted < count) return kNowhere;
  if (is_open_element(list, count - 1)) return kNowhere;
  const AccessId last = appends[count - 1];
  if (last == kNoAccess) return kNowhere;  // It is a duplicate, see above.
  if (!is_last(last)) flaw(AnomalyKind::IntermediateRead, read, last);
  return last_write(last);
}

}  // namespace ouro::recheck
