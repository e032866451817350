// The versions, or the reads, of one key in the order of their moments.
//
// Nearly all items are added at the end or close to it, and nearly every key has few. So a sequence
// is one small array at first. With more than kLeaf items it is cut into leaves, so that an item
// that comes late moves the items of one leaf only. A directory lists all leaves but the newest; it
// is rarely needed. A Sequence is plain data without a destructor: its owner must call clear().
//
// T has at(), its moment; low(), see low_of_leaf(); and kLent, see lend(). It is copied as bytes.
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
  static constexpr std::uint32_t kLeaf = 64;  // The most items in a leaf.

  // A position. Leaves are counted from the newest, which is 0, so that it can be used without the
  // directory.
  struct Cursor {
    std::uint32_t leaf = 0;
    std::uint32_t slot = 0;
    bool operator==(const Cursor&) const = default;
  };

  // Stores the first item in `room`, memory of the caller, instead of memory of the pool; does
  // nothing if T::kLent is false. REQUIRES: empty(), and `room` outlives the sequence.
  void lend(T* room) {
    set_items(room);
    capacity_ = kLent;
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return many() ? directory().total + count_ : count_; }
  [[nodiscard]] T& at(Cursor c) { return items(c.leaf)[c.slot]; }
  [[nodiscard]] const T& at(Cursor c) const { return items(c.leaf)[c.slot]; }
  // The address of the last item, for prefetching.
  [[nodiscard]] const void* tail() const { return count_ == 0 ? items() : items() + count_ - 1; }

  [[nodiscard]] Cursor begin() const {
    return {many() ? static_cast<std::uint32_t>(directory().older.size()) : 0, 0};
  }
  [[nodiscard]] Cursor end() const { return {0, count(0)}; }
  [[nodiscard]] Cursor next(Cursor c) const {
    if (++c.slot == count(c.leaf) && c.leaf > 0) c = {c.leaf - 1, 0};
    return c;
  }
  // The first item of the next leaf.
  [[nodiscard]] Cursor next_leaf(Cursor c) const {
    return c.leaf == 0 ? end() : Cursor{c.leaf - 1, 0};
  }
  // REQUIRES: c != begin().
  [[nodiscard]] Cursor before(Cursor c) const {
    if (c.slot == 0) return {c.leaf + 1, count(c.leaf + 1) - 1};
    return {c.leaf, c.slot - 1};
  }
  // The first item at or after `moment`. Cost: O(1) near the end, else O(log size).
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
  // A lower bound of low() of all items in the leaf, so that callers can skip whole leaves.
  [[nodiscard]] std::int64_t low_of_leaf(std::uint32_t leaf) const {
    return leaf > 0 ? older(leaf).low : std::numeric_limits<std::int64_t>::min();
  }

  // Inserts `item` before `c`, and returns its position. Invalidates all other cursors.
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
  // Removes all items before `c`.
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
  // Special values of capacity_.
  static constexpr std::uint32_t kMany = 255;  // There are several leaves, and a directory.
  static constexpr std::uint32_t kLent = 254;  // The items are in memory given to lend().
  struct Leaf {
    T* items = nullptr;
    std::uint32_t count = 0;
    std::int64_t low = 0;

    void set_low() {
      low = std::numeric_limits<std::int64_t>::max();
      for (std::uint32_t i = 0; i < count; ++i) low = std::min(low, items[i].low());
    }
  };
  struct Directory {
    std::vector<Leaf> older;  // All leaves but the newest, the oldest first.
    std::size_t total = 0;    // How many items these have.
  };

  [[nodiscard]] bool many() const { return capacity_ == kMany; }
  [[nodiscard]] T* items() const { return reinterpret_cast<T*>(std::uintptr_t{items_}); }
  void set_count(std::uint32_t count) { count_ = count & 0xff; }
  void set_items(T* items) {
    items_ = reinterpret_cast<std::uintptr_t>(items) & ((std::uint64_t{1} << 48) - 1);
    assert(this->items() == items);
  }
  // The size of an array of `capacity` items. A full leaf has room for a pointer to the directory
  // after its items; only that of the newest leaf is used.
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

  // How many of the first `count` items are before `moment`.
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
  // Where `c` is after its leaf was split, and the first `stay` items became the older leaf.
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
  // If `c` is the end, the full leaf stays as it is and the new one is empty: appending copies no
  // items.
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

  // All in one word, since every key has two sequences. Addresses have at most 48 bits.
  std::uint64_t items_ : 48 = 0;  // The address of the newest leaf's items.
  std::uint64_t count_ : 8 = 0;
  std::uint64_t capacity_ : 8 = 0;
};

}  // namespace ouro::stream
