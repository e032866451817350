#include "check/observed/join.h"

#include <absl/hash/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

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
  if (place.unit == PlaceUnit::Line && h_.columns().files.size() == 1) {
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

// Of a transaction, its last one.
void Join::add_delete(std::span<const Access> accesses, std::uint32_t at,
                      std::vector<std::uint32_t>& deletes) {
  if (!deletes.empty() && accesses[deletes.back()].txn == accesses[at].txn) {
    deletes.back() = at;
  } else {
    deletes.push_back(at);
  }
}

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
  if (write.kind == OpKind::Delete && !write.aborted) add_delete(accesses_, at, tombstones_);
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
    if (!write.aborted) known.at = at;  // A retry.
  } else if (!write.aborted) {
    fail(write.item, fmt::format("{} {} repeats {}; values of a key must be unique",
                                 write.kind == OpKind::Append ? "append" : "write",
                                 name(write.item), where(earlier.item)));
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
    list |= access.kind == OpKind::Append || access.value.is_list();
  }
  clear_table(writes);
  null_writes_.clear();
  tombstones_.clear();
  aborted_null_write_ = kNoWrite;
  sources_.assign(accesses.size(), Observed::kNone);
  if (list) {
    if (!check_list_kinds()) return;  // A fault: nobody will look at anything else.
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

// Gives every write its transaction's last write of the key.
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

// The accesses of one transaction, in program order.
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
    if (access.aborted || access.value.is_unobserved()) continue;
    if (own != nullptr) {
      const bool deleted = own->kind == OpKind::Delete && items_.is_absence(access.item);
      if (access.value == own->value || deleted) {
        sources_[i] = Observed::kOwn;
        continue;
      }
      const std::uint32_t write = access.value.is_null() ? kNoWrite : find(access.value);
      const bool future = write != kNoWrite && accesses_[write].txn == access.txn && write > i;
      find_wrong(future ? AnomalyKind::FutureRead : AnomalyKind::Internal, access.item,
                 future ? accesses_[write].item : own->item);
      continue;
    }
    sources_[i] = external_source(access);
    if (sources_[i] == kUnclear) {
      sources_[i] = Observed::kNone;
      continue;
    }
    // A scan that passes over a tombstone sees what a read of it returns.
    const bool passed = items_.is_absence(access.item) && sources_[i] < Observed::kInitial;
    const Value value = passed ? accesses_[sources_[i]].value : access.value;
    if (earlier != nullptr && earlier_value != value) {
      find_wrong(AnomalyKind::NonRepeatableRead, access.item, earlier->item);
    }
    earlier = &access;
    earlier_value = value;
  }
}

std::uint32_t Join::external_source(const Access& read) {
  if (read.value.is_null()) {
    return items_.is_absence(read.item) ? absence_source(read) : null_source(read);
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

// The source of a read that returned `write`, of a transaction that did not abort.
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

// A scan need not list tombstones. If the only way to be absent was to be deleted with one, that is
// what it passed over; otherwise we take it that it lists them, and say so, or take it for nothing.
std::uint32_t Join::absence_source(const Access& read) {
  const bool only = tombstones_.size() == 1 && null_writes_.empty() && !initial_.is_null();
  if (only) return source_through(read, tombstones_[0]);
  if (!tombstones_.empty()) {
    if (!unclear_.valid() || read.item < unclear_) unclear_ = read.item;
    if (absences_ == Absences::Certain) return kUnclear;
  }
  return null_source(read);
}

// Nothing was there: never written, or deleted. With more than one possibility the black-box
// question has no single answer.
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
