// What stands on the timeline of one key, in order.
//
// Nearly everything is added at the end or close to it, and nearly every key has little; so this is
// one small array at first. A key with much has leaves, so that what comes late moves at most one
// of them, and a directory of all but the newest leaf: mostly nobody looks there. Plain data:
// whoever owns it must clear() it.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "stream/moment.h"
#include "stream/pool.h"

namespace ouro::stream {

template <class T>
class Sequence {
 public:
  static constexpr std::uint32_t kLeaf = 64;

  // Leaves are counted from the newest, so that it can be used without a look at the others.
  struct Cursor {
    std::uint32_t leaf = 0;
    std::uint32_t slot = 0;
    bool operator==(const Cursor&) const = default;
  };

  // Has room for one of its items from the beginning, which is not of the pool. REQUIRES: empty.
  void lend(T* room) {
    set_items(room);
    capacity_ = kLent;
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return many() ? directory().total + count_ : count_; }
  [[nodiscard]] T& at(Cursor c) { return items(c.leaf)[c.slot]; }
  [[nodiscard]] const T& at(Cursor c) const { return items(c.leaf)[c.slot]; }
  // For prefetching: where the newest is.
  [[nodiscard]] const void* tail() const { return count_ == 0 ? items() : items() + count_ - 1; }

  [[nodiscard]] Cursor begin() const {
    return {many() ? static_cast<std::uint32_t>(directory().older.size()) : 0, 0};
  }
  [[nodiscard]] Cursor end() const { return {0, count(0)}; }
  [[nodiscard]] Cursor next(Cursor c) const {
    if (++c.slot == count(c.leaf) && c.leaf > 0) c = {c.leaf - 1, 0};
    return c;
  }
  [[nodiscard]] Cursor next_leaf(Cursor c) const {
    return c.leaf == 0 ? end() : Cursor{c.leaf - 1, 0};
  }
  // REQUIRES: c != begin().
  [[nodiscard]] Cursor before(Cursor c) const {
    if (c.slot == 0) return {c.leaf + 1, count(c.leaf + 1) - 1};
    return {c.leaf, c.slot - 1};
  }
  // The first that does not stand before `moment`.
  [[nodiscard]] Cursor lower_bound(const Moment& moment) const {
    constexpr std::uint32_t kNear = 4;
    const T* const newest = items();
    // The place is mostly behind the last item, or close to it, so look there first.
    std::uint32_t slot = count(0);
    const std::uint32_t near = slot > kNear ? slot - kNear : 0;
    while (slot > near && !(newest[slot - 1].at() < moment)) --slot;
    if (slot > near || (slot == 0 && !many())) return {0, slot};
    if (!many() || newest[0].at() < moment) return {0, search(newest, slot, moment)};
    return lower_bound_of_older(moment);
  }
  // Not above the smallest low() of the leaf, so that whole leaves can be passed over.
  [[nodiscard]] std::int64_t low_of_leaf(std::uint32_t leaf) const {
    return leaf > 0 ? older(leaf).low : std::numeric_limits<std::int64_t>::min();
  }

  // Puts `item` before `c`; returns where it is. Other cursors are no longer valid.
  Cursor insert(Cursor c, const T& item, Pool& pool) {
    // The first place of a leaf is also the end of the leaf before, which may have room.
    if (c.slot == 0 && c != begin() && count(c.leaf + 1) < kLeaf) {
      c = {c.leaf + 1, count(c.leaf + 1)};
    }
    if (c.leaf > 0) return insert_in_older(c, item, pool);
    if (count_ == room()) {
      if (count_ < kLeaf) {
        resize(std::max(1u, 2 * count(0)), pool);
      } else {
        c = split_newest(c, pool);
        if (c.leaf > 0) return insert_in_older(c, item, pool);
      }
    }
    shift_in(items(), count(0), c.slot, item);
    set_count(count(0) + 1);
    return c;
  }
  // Removes all before `c`.
  void erase_before(Cursor c, Pool& pool) {
    if (c == end()) return clear(pool);
    if (c.leaf == 0) {
      if (many()) give_older(pool);
      set_count(count(0) - c.slot);
      std::memmove(static_cast<void*>(items()), items() + c.slot, count_ * sizeof(T));
      return shrink(pool);
    }
    Directory& all = directory();
    const std::size_t gone = all.older.size() - c.leaf;
    for (std::size_t i = 0; i < gone; ++i) {
      all.total -= all.older[i].count;
      pool.give(all.older[i].items, bytes(kLeaf));
    }
    all.older.erase(all.older.begin(), all.older.begin() + static_cast<std::ptrdiff_t>(gone));
    Leaf& first = all.older.front();
    first.count -= c.slot;
    all.total -= c.slot;
    std::memmove(static_cast<void*>(first.items), first.items + c.slot, first.count * sizeof(T));
    first.set_low();
  }
  void clear(Pool& pool) {
    if (many()) give_older(pool);
    give_newest(pool);
    *this = {};
  }

 private:
  static constexpr std::uint32_t kMany = 255;  // Stands for: there is a directory.
  static constexpr std::uint32_t kLent = 254;
  struct Leaf {
    T* items = nullptr;
    std::uint32_t count = 0;
    std::int64_t low = 0;

    void set_low() {
      low = std::numeric_limits<std::int64_t>::max();
      for (std::uint32_t i = 0; i < count; ++i) low = std::min(low, items[i].low());
    }
  };
  // Of all leaves but the newest, the oldest first.
  struct Directory {
    std::vector<Leaf> older;
    std::size_t total = 0;
  };

  [[nodiscard]] bool many() const { return capacity_ == kMany; }
  [[nodiscard]] T* items() const { return reinterpret_cast<T*>(std::uintptr_t{items_}); }
  void set_count(std::uint32_t count) { count_ = count & 0xff; }
  void set_items(T* items) {
    items_ = reinterpret_cast<std::uintptr_t>(items) & ((std::uint64_t{1} << 48) - 1);
    assert(this->items() == items);
  }
  // Whole leaves have a place for the directory behind their items.
  static std::size_t bytes(std::uint32_t capacity) {
    return capacity * sizeof(T) + (capacity == kLeaf ? sizeof(Directory*) : 0);
  }
  [[nodiscard]] Directory*& directory_of(T* leaf) const {
    return *reinterpret_cast<Directory**>(leaf + kLeaf);
  }
  [[nodiscard]] Directory& directory() const { return *directory_of(items()); }
  [[nodiscard]] Leaf& older(std::uint32_t leaf) const {
    auto& all = directory().older;
    return all[all.size() - leaf];
  }
  [[nodiscard]] T* items(std::uint32_t leaf) const {
    return leaf == 0 ? items() : older(leaf).items;
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t leaf) const {
    return leaf == 0 ? static_cast<std::uint32_t>(count_) : older(leaf).count;
  }
  [[nodiscard]] std::uint32_t room() const {
    if (capacity_ == kLent) return T::kLent ? 1 : 0;
    return many() ? kLeaf : static_cast<std::uint32_t>(capacity_);
  }

  // Of the first `count`, how many stand before `moment`.
  static std::uint32_t search(const T* all, std::uint32_t count, const Moment& moment) {
    return static_cast<std::uint32_t>(
        std::partition_point(all, all + count, [&](const T& item) { return item.at() < moment; }) -
        all);
  }
  [[nodiscard]] Cursor lower_bound_of_older(const Moment& moment) const {
    const auto& all = directory().older;
    const auto behind = std::partition_point(
        all.begin(), all.end(), [&](const Leaf& leaf) { return leaf.items[0].at() < moment; });
    if (behind == all.begin()) return begin();
    const Leaf& found = *std::prev(behind);
    const auto leaf = static_cast<std::uint32_t>(all.end() - behind + 1);
    const std::uint32_t slot = search(found.items, found.count, moment);
    return slot == found.count ? Cursor{leaf - 1, 0} : Cursor{leaf, slot};
  }
  static void shift_in(T* items, std::uint32_t count, std::uint32_t slot, const T& item) {
    std::memmove(static_cast<void*>(items + slot + 1), items + slot, (count - slot) * sizeof(T));
    items[slot] = item;
  }
  static T* take_leaf(Pool& pool) { return static_cast<T*>(pool.take(bytes(kLeaf))); }

  void shrink(Pool& pool) {
    if (capacity_ == kLent) return;
    auto wanted = static_cast<std::uint32_t>(capacity_);
    while (wanted / 2 >= count_ && wanted > 1) wanted /= 2;
    if (wanted < capacity_) resize(wanted, pool);
  }
  void resize(std::uint32_t capacity, Pool& pool) {
    T* const other = static_cast<T*>(pool.take(bytes(capacity)));
    if (count_ > 0) std::memcpy(static_cast<void*>(other), items(), count_ * sizeof(T));
    give_newest(pool);
    set_items(other);
    capacity_ = capacity & 0xff;
  }
  void give_newest(Pool& pool) {
    const std::uint32_t capacity = room();
    if (capacity > 0 && capacity_ != kLent) pool.give(items(), bytes(capacity));
  }
  void give_older(Pool& pool) {
    Directory* const all = directory_of(items());
    for (const Leaf& leaf : all->older) pool.give(leaf.items, bytes(kLeaf));
    delete all;
    capacity_ = kLeaf;
  }
  Cursor insert_in_older(Cursor c, const T& item, Pool& pool) {
    if (older(c.leaf).count == kLeaf) c = split_older(c, pool);
    Leaf& leaf = older(c.leaf);
    ++directory().total;
    shift_in(leaf.items, leaf.count, c.slot, item);
    ++leaf.count;
    leaf.low = leaf.count == 1 ? item.low() : std::min(leaf.low, item.low());
    return c;
  }
  // Where `c` is when `stay` items of its leaf have become a leaf of their own.
  static Cursor after_split(Cursor c, std::uint32_t stay) {
    return c.slot > stay ? Cursor{c.leaf, c.slot - stay} : Cursor{c.leaf + 1, c.slot};
  }
  Cursor split_older(Cursor c, Pool& pool) {
    constexpr std::uint32_t kStay = kLeaf / 2;
    Leaf added{take_leaf(pool), kLeaf - kStay, 0};
    Leaf& full = older(c.leaf);
    std::memcpy(static_cast<void*>(added.items), full.items + kStay, added.count * sizeof(T));
    full.count = kStay;
    full.set_low();
    added.set_low();
    auto& all = directory().older;
    all.insert(all.end() - static_cast<std::ptrdiff_t>(c.leaf) + 1, added);
    return after_split(c, kStay);
  }
  // Appending moves nothing.
  Cursor split_newest(Cursor c, Pool& pool) {
    const bool last = c.slot == kLeaf;
    const std::uint32_t stay = last ? kLeaf : kLeaf / 2;
    Directory* const all = many() ? directory_of(items()) : new Directory;
    T* const newest = take_leaf(pool);
    std::memcpy(static_cast<void*>(newest), items() + stay, (kLeaf - stay) * sizeof(T));
    Leaf& full = all->older.emplace_back(Leaf{items(), stay, 0});
    full.set_low();
    all->total += stay;
    directory_of(newest) = all;
    set_items(newest);
    set_count(kLeaf - stay);
    capacity_ = kMany;
    return last ? Cursor{0, 0} : after_split(c, stay);
  }

  // In one word, since there are as many as keys. Addresses of a process have at most 48 bits.
  std::uint64_t items_ : 48 = 0;  // Of the newest leaf, or of all.
  std::uint64_t count_ : 8 = 0;
  std::uint64_t capacity_ : 8 = 0;
};

}  // namespace ouro::stream
