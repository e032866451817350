#include "check/join.h"

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

ItemId Join::find(Value value) {
  const Slot& found = slot(value);
  return found.epoch == epoch_ ? found.item : ItemId{};
}

void Join::add_write(ItemId item, Value value) {
  const bool aborted = status(item) == TxnStatus::Aborted;
  if (value.is_null()) {
    if (aborted) {
      aborted_null_write_ = item;
    } else if (!null_writes_.empty() && o_.txn(null_writes_.back()) == o_.txn(item)) {
      null_writes_.back() = item;
    } else {
      null_writes_.push_back(item);
    }
    return;
  }
  if (!aborted && value == initial_) {
    fail(item, fmt::format("write {} repeats the initial value; values of a key must be unique",
                           name(item)));
  }
  Slot& known = slot(value);
  if (known.epoch != epoch_) {
    known = {value, item, epoch_};
  } else if (o_.txn(known.item) == o_.txn(item)) {
    known.item = item;
  } else if (status(known.item) == TxnStatus::Aborted) {
    if (!aborted) known.item = item;  // A retry.
  } else if (!aborted) {
    fail(item, fmt::format("{} {} repeats {}; values of a key must be unique",
                           items_.kind(item) == OpKind::Append ? "append" : "write", name(item),
                           where(known.item)));
  }
}

// ---- registers ----

void Join::key(KeyId key) {
  key_ = key;
  first_ = o_.key_first_[key.index()];
  end_ = o_.key_first_[key.index() + 1];
  initial_ = h_.initial(key);
  std::size_t writes = 0;
  bool list = false;
  for (std::size_t i = first_; i < end_; ++i) {
    const OpKind kind = items_.kind(o_.key_items_[i]);
    writes += is_write(kind) ? 1 : 0;
    list |= kind == OpKind::Append || value(i).is_list();
  }
  clear_table(writes);
  null_writes_.clear();
  aborted_null_write_ = {};
  if (list) return list_key();

  link_final_writes();
  for (std::size_t i = first_; i < end_; ++i) {
    if (items_.is_write(o_.key_items_[i])) add_write(o_.key_items_[i], value(i));
  }
  for_each_group([&](std::size_t first, std::size_t end) { read_group(first, end); });
}

// Gives every write its transaction's last write of the key.
void Join::link_final_writes() {
  for_each_group([&](std::size_t first, std::size_t end) {
    ItemId last;
    for (std::size_t i = end; i-- > first;) {
      const ItemId item = o_.key_items_[i];
      if (!items_.is_write(item)) continue;
      if (!last.valid()) last = item;
      set_source(item, last.value);
    }
  });
}

// The items of one transaction, in program order.
void Join::read_group(std::size_t first, std::size_t end) {
  const bool aborted = status(o_.key_items_[first]) == TxnStatus::Aborted;
  ItemId own;
  ItemId earlier;
  Value own_value;
  Value earlier_value;
  for (std::size_t i = first; i < end; ++i) {
    const ItemId item = o_.key_items_[i];
    if (items_.is_write(item)) {
      own = item;
      own_value = value(i);
      continue;
    }
    if (aborted || value(i).is_unobserved()) {
      set_source(item, Observed::kNone);
      continue;
    }
    if (own.valid()) {
      const bool same = value(i) == own_value;
      set_source(item, same ? Observed::kOwn : Observed::kNone);
      if (same) continue;
      const ItemId write = value(i).is_null() ? ItemId{} : find(value(i));
      const bool future = write.valid() && o_.txn(write) == o_.txn(item) && write > item;
      find_wrong(future ? AnomalyKind::FutureRead : AnomalyKind::Internal, item,
                 future ? write : own);
      continue;
    }
    set_source(item, external_source(item, value(i)));
    if (earlier.valid() && earlier_value != value(i)) {
      find_wrong(AnomalyKind::NonRepeatableRead, item, earlier);
    }
    earlier = item;
    earlier_value = value(i);
  }
}

std::uint32_t Join::external_source(ItemId item, Value value) {
  if (value.is_null()) return null_source(item);
  const ItemId write = find(value);
  if (!write.valid()) {
    if (value == initial_) return Observed::kInitial;
    find_wrong(AnomalyKind::ThinAirRead, item, {});
    return Observed::kNone;
  }
  if (o_.txn(write) == o_.txn(item)) {
    find_wrong(AnomalyKind::FutureRead, item, write);
    return Observed::kNone;
  }
  if (status(write) == TxnStatus::Aborted) {
    if (value == initial_) return Observed::kInitial;
    find_wrong(AnomalyKind::AbortedRead, item, write);
    return Observed::kNone;
  }
  if (!o_.final(write)) find_wrong(AnomalyKind::IntermediateRead, item, write);
  return o_.source_[write.index()];
}

// Nothing was there: never written, or deleted. With more than one possibility the black-box
// question has no single answer.
std::uint32_t Join::null_source(ItemId item) {
  const bool initially = initial_.is_null();
  const std::size_t possible = null_writes_.size() + (initially ? 1 : 0);
  if (possible > 1) {
    fail(item,
         fmt::format("read of absent {} could be {} or the delete at {}; give deletes a unique "
                     "tombstone, like [\"d\",\"x\",17], and return it from reads",
                     h_.key_label(key_),
                     initially ? "the initial state"
                               : "the delete at " + where(null_writes_[null_writes_.size() - 2]),
                     where(null_writes_.back())));
    return Observed::kNone;
  }
  if (initially) return Observed::kInitial;
  if (possible == 0) {
    find_wrong(aborted_null_write_.valid() ? AnomalyKind::AbortedRead : AnomalyKind::ThinAirRead,
               item, aborted_null_write_);
    return Observed::kNone;
  }
  const ItemId write = null_writes_[0];
  if (o_.txn(write) == o_.txn(item)) {
    find_wrong(AnomalyKind::FutureRead, item, write);
    return Observed::kNone;
  }
  if (!o_.final(write)) find_wrong(AnomalyKind::IntermediateRead, item, write);
  return o_.source_[write.index()];
}

}  // namespace ouro
