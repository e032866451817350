#include "check/observed/join.h"

#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "history/access.h"
#include "history/columns.h"

namespace ouro {

void Join::fail(ItemId item, std::string what) {
  if (!fault_ || item < fault_->item) fault_ = Fault{item, std::move(what)};
}

std::string Join::name(ItemId item) const {
  return fmt::format("{}={}", h_.key_label(items_.key(item)), h_.text(items_.value(item)));
}

// "line 12", or the whole place if it is in another file.
std::string Join::where(ItemId item) const {
  const Place place = h_.place(items_.op(item));
  if (place.unit == PlaceUnit::Line && columns_of(h_).files.size() == 1) {
    return fmt::format("line {}", place.position);
  }
  if (place.unit == PlaceUnit::None) {
    return fmt::format("transaction {}", o_.txn(item).index() + 1);
  }
  return place.to_string();
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

// Enters a write into the table; reports a value that two transactions wrote. The same value may be
// written again if the first writer aborted.
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
  if (!write.aborted && write.value == initial_) {
    fail(write.item,
         fmt::format("write {} repeats the initial value; values of a key must be unique",
                     name(write.item)));
  }
  Slot& known = slot(write.value);
  if (known.epoch != epoch_) {
    known = {write.value, at, epoch_};
    return;
  }
  const Access& earlier = accesses_[known.at];
  if (earlier.txn == write.txn) {
    known.at = at;
  } else if (earlier.aborted) {
    if (!write.aborted) known.at = at;  // A retry of the aborted transaction.
  } else if (!write.aborted) {
    fail(write.item, fmt::format("{} {} repeats {}; values of a key must be unique",
                                 is_append(write.kind) ? "append" : "write", name(write.item),
                                 where(earlier.item)));
  }
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
    writes += access.is_write() ? 1 : 0;
    list |= shows_list(access.kind, access.value);
  }
  clear_table(writes);
  null_writes_.clear();
  tombstones_.clear();
  aborted_null_write_ = kNoWrite;
  sources_.assign(accesses.size(), Observed::kNone);
  if (list) {
    if (!check_list_kinds()) return;  // The fault is all that will be reported.
    initial_ = Value::null();
  }
  link_final_writes();
  for (std::uint32_t i = 0; i < size() && !ticker_.tick(); ++i) {
    if (accesses[i].is_write()) add_write(i);
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
  const Access* own = nullptr;
  const Access* earlier = nullptr;
  Value earlier_value;
  for (std::uint32_t i = first; i < end; ++i) {
    const Access& access = accesses_[i];
    if (access.is_write()) {
      own = &access;
      continue;
    }
    if (access.aborted || access.value.is_unobserved() || !access.is_read()) continue;
    if (is_open_read(access.kind)) {
      open_read(i, own, earlier, earlier_value);
      if (sources_[i] > Observed::kInitial) continue;
    } else if (own != nullptr) {
      const bool deleted = info(own->kind).deletes && items_.is_absence(access.item);
      if (access.value == own->value || deleted) {
        sources_[i] = Observed::kOwn;
        continue;
      }
      const std::uint32_t write = access.value.is_null() ? kNoWrite : find(access.value);
      const bool future = write != kNoWrite && accesses_[write].txn == access.txn && write > i;
      find_wrong(future ? AnomalyKind::FutureRead : AnomalyKind::Internal, access.item,
                 future ? accesses_[write].item : own->item);
      continue;
    } else {
      sources_[i] = external_source(access);
    }
    if (sources_[i] == kUnclear) {
      sources_[i] = Observed::kNone;
      continue;
    }
    const Value value = seen_value(i);
    if (earlier != nullptr && earlier_value != value) {
      find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
    }
    if (earlier == nullptr && !is_open_read(access.kind)) compare_open_reads(i, value);
    earlier = &access;
    earlier_value = value;
  }
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
  if (const ReadSource* said = said_source(access)) {
    sources_[at] = Observed::kInitial;
    if (said->writer == kInitialTxn) return;
    const auto write = std::partition_point(accesses_.begin(), accesses_.end(),
                                            [&](const auto& a) { return a.txn < said->writer; });
    for (auto w = write; w != accesses_.end() && w->txn == said->writer; ++w) {
      if (w->is_write()) sources_[at] = static_cast<std::uint32_t>(w - accesses_.begin());
    }
    return;
  }
  if (earlier != nullptr && !read_fits(access.kind, access.value, earlier_value)) {
    find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
  }
  if (!may_be_anything(access)) {
    find_wrong(AnomalyKind::ThinAirRead, access.item, {});
  } else {
    open_reads_.push_back(access.item);
  }
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
  const OpId op = items_.op(open_read.item);
  const auto at = std::partition_point(o_.sources_.begin(), o_.sources_.end(),
                                       [&](const ReadSource& said) { return said.read < op; });
  return at != o_.sources_.end() && at->read == op ? &*at : nullptr;
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

// The source of a read before which its transaction did not write the key. Reports what is wrong.
std::uint32_t Join::external_source(const Access& read) {
  if (read.value.is_null()) {
    return items_.may_be_tombstone(read.item) ? absence_source(read) : null_source(read);
  }
  const std::uint32_t write = find(read.value);
  const bool initially = read.value == initial_;
  if (write == kNoWrite) {
    if (initially) return Observed::kInitial;
    find_wrong(AnomalyKind::ThinAirRead, read.item, {});
    return Observed::kNone;
  }
  if (accesses_[write].aborted) {
    if (initially) return Observed::kInitial;
    find_wrong(AnomalyKind::AbortedRead, read.item, accesses_[write].item);
    return Observed::kNone;
  }
  return source_through(read, write);
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

// The source of a key that a scan did not list. Scans need not list tombstones. So if a delete that
// left one is the only way for the key to be absent, the scan passed over that tombstone. If there
// are several ways, the read is noted as unclear; it is assumed that the scan would have listed a
// tombstone, or, with Absences::Certain, the read is left out.
std::uint32_t Join::absence_source(const Access& read) {
  const bool only = tombstones_.size() == 1 && null_writes_.empty() && !initial_.is_null();
  if (only) return source_through(read, tombstones_[0]);
  if (!tombstones_.empty()) {
    if (!unclear_.valid() || read.item < unclear_) unclear_ = read.item;
    if (absences_ == Absences::Certain) return kUnclear;
  }
  return null_source(read);
}

// The source of a read that found nothing: the key was never written, or was deleted without a
// tombstone. If more than one of these is possible, the history is refused as ambiguous.
std::uint32_t Join::null_source(const Access& read) {
  const bool initially = initial_.is_null();
  const std::size_t possible = null_writes_.size() + (initially ? 1 : 0);
  const auto delete_at = [&](std::uint32_t at) {
    return "the delete at " + where(accesses_[at].item);
  };
  if (possible > 1) {
    fail(read.item, fmt::format("read of absent {} could be {} or {}; give deletes a unique "
                                "tombstone, like [\"d\",\"x\",17], and return it from reads",
                                h_.key_label(read.key),
                                initially ? "the initial state"
                                          : delete_at(null_writes_[null_writes_.size() - 2]),
                                delete_at(null_writes_.back())));
    return Observed::kNone;
  }
  if (initially) return Observed::kInitial;
  if (possible == 1) return source_through(read, null_writes_[0]);
  if (aborted_null_write_ == kNoWrite) {
    find_wrong(AnomalyKind::ThinAirRead, read.item, {});
  } else {
    find_wrong(AnomalyKind::AbortedRead, read.item, accesses_[aborted_null_write_].item);
  }
  return Observed::kNone;
}

}  // namespace ouro
