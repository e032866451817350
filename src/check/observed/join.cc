#include "check/observed/join.h"

#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "history/access.h"
#include "history/columns.h"
#include "history/undone.h"

namespace ouro {

void Join::fail(ItemId item, std::string what) {
  if (!fault_ || item < fault_->item) fault_ = Fault{item, std::move(what)};
}

// ---- the table of the key's writes ----

void Join::clear_table(std::size_t writes) {
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(writes * 2, 16));
  if (table_.size() < wanted) table_.assign(wanted, Slot{});
  mask_ = wanted - 1;
  ++epoch_;
}

Join::Slot& Join::slot(Value value) {
  std::size_t at = absl::HashOf(value.bits()) & mask_;
  while (table_[at].epoch == epoch_ && table_[at].value != value) at = (at + 1) & mask_;
  return table_[at];
}

std::uint32_t Join::find(Value value) {
  const Slot& found = slot(value);
  return found.epoch == epoch_ ? found.at : kNoWrite;
}

// Adds the delete at `at`; of each transaction, only the last one is kept.
void Join::add_delete(std::span<const Access> accesses, std::uint32_t at,
                      std::vector<std::uint32_t>& deletes) {
  if (!deletes.empty() && accesses[deletes.back()].txn == accesses[at].txn) {
    deletes.back() = at;
  } else {
    deletes.push_back(at);
  }
}

// Enters a write into the table. Writes of one value by several transactions form a list through
// repeats_, the last one first; aborted ones are found only if nobody else wrote the value.
void Join::add_write(std::uint32_t at) {
  const Access& write = accesses_[at];
  if (write.value.is_null()) {
    if (write.aborted) {
      aborted_null_write_ = at;
    } else {
      add_delete(accesses_, at, null_writes_);
    }
    return;
  }
  if (info(write.kind).deletes && !write.aborted) add_delete(accesses_, at, tombstones_);
  Slot& known = slot(write.value);
  if (known.epoch != epoch_) {
    known = {write.value, at, epoch_};
    return;
  }
  const Access& earlier = accesses_[known.at];
  if (!earlier.aborted && !write.aborted) appends_repeat_ |= is_append(write.kind);
  if (earlier.txn == write.txn) {
    if (!repeats_.empty()) repeats_[at] = repeats_[known.at];
    known.at = at;
  } else if (earlier.aborted) {
    if (!write.aborted) known.at = at;  // A retry of the aborted transaction.
  } else if (!write.aborted) {
    if (repeats_.empty()) repeats_.assign(accesses_.size(), kNoWrite);
    repeats_[at] = known.at;
    known.at = at;
  }
}

// Enters an undone write, if nobody else wrote its value.
void Join::add_undone(std::uint32_t at) {
  if (accesses_[at].value.is_null()) {
    if (aborted_null_write_ == kNoWrite) aborted_null_write_ = at;
    return;
  }
  Slot& known = slot(accesses_[at].value);
  if (known.epoch != epoch_) known = {accesses_[at].value, at, epoch_};
}

// ---- registers ----

void Join::key(std::span<const Access> accesses, std::span<KeyLink> links) {
  if (accesses.empty()) return;
  accesses_ = accesses;
  initial_ = h_.initial(accesses[0].key);
  std::size_t writes = 0;
  bool list = false;
  for (const Access& access : accesses) {
    __builtin_prefetch(&o_.source_[access.item.index()], 1);  // Written below.
    writes += access.is_write() || is_undone(access.kind) ? 1 : 0;
    list |= shows_list(access.kind, access.value);
  }
  clear_table(writes);
  repeats_.clear();
  null_writes_.clear();
  tombstones_.clear();
  aborted_null_write_ = kNoWrite;
  appends_repeat_ = false;
  sources_.assign(accesses.size(), Observed::kNone);
  if (list) {
    if (!check_list_kinds()) return;  // The fault is all that will be reported.
    initial_ = Value::null();
  }
  link_final_writes();
  for (std::uint32_t i = 0; i < size() && !ticker_.tick(); ++i) {
    if (accesses[i].is_write()) add_write(i);
  }
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (is_undone(accesses[i].kind)) add_undone(i);
  }
  if (!list) {
    for_each_group([&](std::uint32_t first, std::uint32_t end) { read_group(first, end); });
  }
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::uint32_t source = sources_[i];
    set_source(accesses[i].item,
               source < Observed::kInitial ? accesses[source].item.value : source);
  }
  if (list && !ticker_.stopped()) list_key();
  fill_links(links);
}

void Join::fill_links(std::span<KeyLink> links) const {
  for (std::uint32_t i = 0; i < size(); ++i) {
    links[i] = {accesses_[i].txn, sources_[i]};
    if (!accesses_[i].is_write()) continue;
    links[i].source = sources_[i] == i ? KeyLink::kFinalWrite : KeyLink::kOtherWrite;
  }
}

// Sets the source of every write: its transaction's last write of the key.
void Join::link_final_writes() {
  for_each_group([&](std::uint32_t first, std::uint32_t end) {
    std::uint32_t last = kNoWrite;
    for (std::uint32_t i = end; i-- > first;) {
      if (!accesses_[i].is_write()) continue;
      if (last == kNoWrite) last = i;
      sources_[i] = last;
    }
  });
}

// Joins the register reads of one transaction, whose accesses are those from `first` to `end`.
void Join::read_group(std::uint32_t first, std::uint32_t end) {
  const Access* kept = nullptr;  // The last own write that was not undone.
  const Access* earlier = nullptr;
  Value earlier_value;
  std::uint32_t seen = kNoWrite;   // The last read so far with a source.
  const Access* missed = nullptr;  // A scan that did not list the key; nobody knows why.
  for (std::uint32_t i = first; i < end; ++i) {
    const Access& access = accesses_[i];
    if (access.is_write()) {
      kept = &access;
      continue;
    }
    if (access.aborted || access.value.is_unobserved() || !access.is_read()) continue;
    const Access* const undone = undone_own(first, i);
    const Access* const own = undone != nullptr ? undone : kept;
    if (items_.is_untold(access.item)) {
      const bool scan = h_.op(items_.op(access.item)).kind == OpKind::Scan;
      if (scan && own == nullptr && earlier != nullptr && is_listed(earlier_value)) {
        find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
      }
      untold_read(i, own);
      compare_untold(i, seen);
      if (scan && own == nullptr && sources_[i] == Observed::kNone) missed = &access;
      continue;
    }
    if (is_open_read(access.kind)) {
      open_read(i, own, earlier, earlier_value);
      if (sources_[i] > Observed::kInitial) continue;
    } else if (own != nullptr) {
      const bool deletes = info(own->kind).deletes || own->kind == OpKind::UndoneDelete;
      const bool deleted = deletes && items_.is_absence(access.item);
      if (access.value == own->value || deleted) {
        sources_[i] = Observed::kOwn;
        continue;
      }
      const std::uint32_t write = undone != nullptr ? kNoWrite : later_own(i, end);
      const bool future = write != kNoWrite;
      find_wrong(future ? AnomalyKind::FutureRead : AnomalyKind::Internal, access.item,
                 future ? accesses_[write].item : own->item);
      continue;
    } else {
      sources_[i] = external_source(i);
    }
    if (sources_[i] == kOpen && !take_said(i)) {
      open_reads_.push_back(access.item);
      sources_[i] = Observed::kNone;
    }
    compare_untold(i, seen);
    const Value value = seen_value(i);
    if (earlier != nullptr && earlier_value != value) {
      find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
    } else if (missed != nullptr && is_listed(value)) {
      find_wrong(AnomalyKind::NonRepeatableRead, access.item, missed->item);
    }
    if (earlier == nullptr && !is_open_read(access.kind)) compare_open_reads(i, value);
    earlier = &access;
    earlier_value = value;
  }
}

// The last write of its own transaction that the read at `at` sees, and that was undone later; null
// if there is none. The accesses of the transaction begin at `first`.
const Access* Join::undone_own(std::uint32_t first, std::uint32_t at) const {
  const OpId read = items_.op(accesses_[at].item);
  if (h_.undone_part(read) == 0) return nullptr;
  for (std::uint32_t i = at; i-- > first;) {
    const Access& access = accesses_[i];
    if (!is_undone(access.kind) || !h_.still_holds(items_.op(access.item), read)) continue;
    return &access;
  }
  return nullptr;
}

// Whether scans list the value of the key at hand: it is a row, or a tombstone that they list.
bool Join::is_listed(Value value) const {
  if (value.is_null()) return false;
  return scans_list_ || std::none_of(tombstones_.begin(), tombstones_.end(), [&](std::uint32_t at) {
           return accesses_[at].value == value;
         });
}

// The value that an external read saw. An open read saw that of its source, and so did a scan that
// passed over a tombstone.
Value Join::seen_value(std::uint32_t i) const {
  const Access& access = accesses_[i];
  const bool passed = items_.is_absence(access.item) && sources_[i] < Observed::kInitial;
  if (!passed && !is_open_read(access.kind)) return access.value;
  return sources_[i] == Observed::kInitial ? initial_ : accesses_[sources_[i]].value;
}

// Joins a read that says only what it did not return (a failed compare-and-set). Its source is the
// transaction's own write before it, or what the caller of Observed::observe() said. Otherwise it
// is open. `earlier` is a read that the transaction made before, and `earlier_value` what that saw;
// either may contradict this one.
void Join::open_read(std::uint32_t at, const Access* own, const Access* earlier,
                     Value earlier_value) {
  const Access& access = accesses_[at];
  if (own != nullptr) {
    sources_[at] = Observed::kOwn;
    if (!read_fits(access.kind, access.value, own->value)) {
      find_wrong(AnomalyKind::Internal, access.item, own->item);
    }
    return;
  }
  if (take_said(at)) return;
  if (earlier != nullptr && !read_fits(access.kind, access.value, earlier_value)) {
    find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
  }
  if (!may_be_anything(access)) {
    find_wrong(AnomalyKind::ThinAirRead, access.item, {});
  } else {
    open_reads_.push_back(access.item);
  }
}

// Reports that a read and the one before it, `seen`, saw two versions, if one of them does not tell
// what it saw. `seen` becomes the read, if that has a source.
void Join::compare_untold(std::uint32_t at, std::uint32_t& seen) {
  if (sources_[at] > Observed::kInitial) return;
  const std::uint32_t before = std::exchange(seen, at);
  if (before == kNoWrite || sources_[before] == sources_[at]) return;
  const ItemId items[] = {accesses_[at].item, accesses_[before].item};
  if (!items_.is_untold(items[0]) && !items_.is_untold(items[1])) return;
  find_wrong(AnomalyKind::NonRepeatableRead, items[0], items[1]);
}

// Joins a read that does not tell what it saw. Behind an own write of the key it saw that; then
// nobody else matters.
void Join::untold_read(std::uint32_t at, const Access* own) {
  if (own != nullptr) {
    sources_[at] = Observed::kOwn;
    return;
  }
  if (take_said(at)) return;
  const Access& read = accesses_[at];
  if (h_.op(items_.op(read.item)).kind == OpKind::Scan) {
    sources_[at] = choose(read, possible_absences(read));
    if (sources_[at] != kOpen) return;
    sources_[at] = Observed::kNone;
    open_reads_.push_back(read.item);
    return;
  }
  std::uint32_t only = Observed::kInitial;
  int count = o_.fits(read.item, {}) ? 1 : 0;
  for (std::uint32_t i = 0; i < size() && count < 2; ++i) {
    const Access& write = accesses_[i];
    if (!write.is_write() || sources_[i] != i || write.aborted || write.txn == read.txn) continue;
    if (!o_.fits(read.item, write.item)) continue;
    only = i;
    ++count;
  }
  if (count == 0) find_wrong(AnomalyKind::ResultSetMismatch, read.item, {});
  if (count == 1) sources_[at] = only;
  if (count > 1) open_reads_.push_back(read.item);
}

// Gives the open read at `at` the source that the caller of Observed::observe() said; false if that
// is none.
bool Join::take_said(std::uint32_t at) {
  const ReadSource* said = said_source(accesses_[at]);
  if (said == nullptr) return false;
  sources_[at] = Observed::kInitial;
  if (said->writer == kInitialTxn) return true;
  const auto write = std::partition_point(accesses_.begin(), accesses_.end(),
                                          [&](const auto& a) { return a.txn < said->writer; });
  for (auto w = write; w != accesses_.end() && w->txn == said->writer; ++w) {
    if (w->is_write()) sources_[at] = static_cast<std::uint32_t>(w - accesses_.begin());
  }
  return true;
}

// Reports the open reads that the transaction made before the read at `at` and that contradict it:
// they say that they did not return `value`, which that one saw.
void Join::compare_open_reads(std::uint32_t at, Value value) {
  for (std::uint32_t i = at; i-- > 0 && accesses_[i].txn == accesses_[at].txn;) {
    const Access& open = accesses_[i];
    if (!is_open_read(open.kind) || read_fits(open.kind, open.value, value)) continue;
    find_wrong(AnomalyKind::NonRepeatableRead, accesses_[at].item, open.item);
  }
}

// What the caller of Observed::observe() said that an open read returned; null if nothing.
const ReadSource* Join::said_source(const Access& open_read) const {
  if (o_.sources_.empty()) return nullptr;
  const auto place = [](const ReadSource& said) { return std::pair(said.read, said.key); };
  const auto wanted = std::pair(items_.op(open_read.item), open_read.key);
  const auto at =
      std::partition_point(o_.sources_.begin(), o_.sources_.end(),
                           [&](const ReadSource& said) { return place(said) < wanted; });
  return at != o_.sources_.end() && place(*at) == wanted ? &*at : nullptr;
}

// Whether there is any version that an open read may have returned.
bool Join::may_be_anything(const Access& open_read) const {
  if (read_fits(open_read.kind, open_read.value, initial_)) return true;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Access& write = accesses_[i];
    if (!write.is_write() || sources_[i] != i || write.aborted || write.txn == open_read.txn)
      continue;
    if (read_fits(open_read.kind, open_read.value, write.value)) return true;
  }
  return false;
}

// The last write behind `at` by the same transaction, whose accesses end at `end`, of the value
// that the read at `at` returned; kNoWrite if there is none. Deletes without a tombstone do not
// count.
std::uint32_t Join::later_own(std::uint32_t at, std::uint32_t end) const {
  const Value value = accesses_[at].value;
  if (value.is_null()) return kNoWrite;
  for (std::uint32_t i = end; i-- > at + 1;) {
    if (accesses_[i].is_write() && accesses_[i].value == value) return i;
  }
  return kNoWrite;
}

// Adds `write`, of a transaction that did not abort, to what `read` may have returned.
void Join::add_possible(const Access& read, std::uint32_t write, Possible& out) const {
  if (accesses_[write].txn == read.txn) {
    out.own = write;
  } else if (sources_[write] != write) {
    out.intermediate = write;
  } else {
    ++out.count;
    out.one = write;
  }
}

// Of a read that found nothing: the key was never written, or somebody deleted it.
Join::Possible Join::possible_nulls(const Access& read) const {
  Possible out;
  out.aborted = aborted_null_write_;
  if (initial_.is_null()) out = {.count = 1, .one = Observed::kInitial};
  for (auto write = null_writes_.rbegin(); write != null_writes_.rend() && out.count < 2; ++write) {
    add_possible(read, *write, out);
  }
  return out;
}

// Of a key that a scan did not list: as possible_nulls(), or somebody left a tombstone that it did
// not list.
Join::Possible Join::possible_absences(const Access& read) const {
  Possible out = possible_nulls(read);
  if (scans_list_) return out;
  for (auto write = tombstones_.rbegin(); write != tombstones_.rend() && out.count < 2; ++write) {
    add_possible(read, *write, out);
  }
  return out;
}

Join::Possible Join::possible_values(const Access& read) {
  Possible out;
  if (read.value == initial_) out = {.count = 1, .one = Observed::kInitial};
  std::uint32_t write = find(read.value);
  if (write != kNoWrite && accesses_[write].aborted) {
    out.aborted = write;
  } else if (write != kNoWrite) {
    add_possible(read, write, out);
    while (out.count < 2 && !repeats_.empty() && (write = repeats_[write]) != kNoWrite) {
      add_possible(read, write, out);
    }
  }
  return out;
}

// The source of a read: the only possible one, or kOpen. Reports a read of what nobody may read.
std::uint32_t Join::choose(const Access& read, const Possible& possible) {
  if (possible.count > 1) return kOpen;
  if (possible.count == 1) return possible.one;
  if (possible.intermediate != kNoWrite) return source_through(read, possible.intermediate);
  if (possible.own != kNoWrite) return source_through(read, possible.own);
  if (possible.aborted != kNoWrite) {
    find_wrong(AnomalyKind::AbortedRead, read.item, accesses_[possible.aborted].item);
  } else {
    find_wrong(AnomalyKind::ThinAirRead, read.item, {});
  }
  return Observed::kNone;
}

// The source of a read that its transaction's own writes do not explain.
std::uint32_t Join::external_source(std::uint32_t at) {
  const Access& read = accesses_[at];
  return choose(read, read.value.is_null() ? possible_nulls(read) : possible_values(read));
}

// The source of a read that returned `write`, whose transaction did not abort.
std::uint32_t Join::source_through(const Access& read, std::uint32_t write) {
  const Access& from = accesses_[write];
  if (from.txn == read.txn) {
    find_wrong(AnomalyKind::FutureRead, read.item, from.item);
    return Observed::kNone;
  }
  if (sources_[write] != write) {
    find_wrong(AnomalyKind::IntermediateRead, read.item, from.item);
  }
  return sources_[write];
}

}  // namespace ouro
