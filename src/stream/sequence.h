// What stands on the timeline of one key, in order.
//
// Nearly everything is added at the end or close to it, and nearly every key has little; so this is
// one small array at first. A key with much has a directory of leaves, so that what comes late
// moves at most a leaf. Plain data: whoever owns it must clear() it.
#pragma once

#include <algorithm>
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

  struct Cursor {
    std::uint32_t leaf = 0;
    std::uint32_t slot = 0;
    bool operator==(const Cursor&) const = default;
  };

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return capacity_ == kMany ? directory_->total : count_; }
  [[nodiscard]] T& at(Cursor c) { return items(c.leaf)[c.slot]; }
  [[nodiscard]] const T& at(Cursor c) const { return items(c.leaf)[c.slot]; }
  // For prefetching: about where the newest are.
  [[nodiscard]] const void* tail() const {
    return capacity_ == kMany || count_ == 0 ? items_ : items_ + count_ - 1;
  }

  [[nodiscard]] Cursor begin() const { return {}; }
  [[nodiscard]] Cursor end() const {
    if (capacity_ != kMany) return {0, count_};
    return {static_cast<std::uint32_t>(directory_->leaves.size()), 0};
  }
  [[nodiscard]] Cursor next(Cursor c) const {
    if (++c.slot == count(c.leaf) && capacity_ == kMany) c = {c.leaf + 1, 0};
    return c;
  }
  // REQUIRES: c != begin().
  [[nodiscard]] Cursor before(Cursor c) const {
    if (c.slot == 0) return {c.leaf - 1, count(c.leaf - 1) - 1};
    return {c.leaf, c.slot - 1};
  }
  // The first that does not stand before `moment`.
  [[nodiscard]] Cursor lower_bound(const Moment& moment) const {
    const std::uint32_t leaf = capacity_ == kMany ? leaf_for(moment) : 0;
    const T* const all = items(leaf);
    std::uint32_t low = 0;
    std::uint32_t high = count(leaf);
    // Mostly behind the last one.
    if (high > 0 && all[high - 1].at() < moment) low = high;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (all[middle].at() < moment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (capacity_ == kMany && low == count(leaf)) return {leaf + 1, 0};
    return {leaf, low};
  }
  // The smallest low() of the leaf, so that whole leaves can be passed over.
  [[nodiscard]] std::int64_t low_of_leaf(std::uint32_t leaf) const {
    if (capacity_ == kMany) return directory_->leaves[leaf].low;
    return std::numeric_limits<std::int64_t>::min();
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t leaf) const {
    return capacity_ == kMany ? directory_->leaves[leaf].count : count_;
  }

  // Puts `item` before `c`; returns where it is. Other cursors are no longer valid.
  Cursor insert(Cursor c, const T& item, Pool& pool) {
    if (capacity_ != kMany && count_ == capacity_) grow(pool);
    if (capacity_ == kMany) return insert_in_leaf(c, item, pool);
    shift_in(items_, count_, c.slot, item);
    ++count_;
    return c;
  }
  // Removes all before `c`.
  void erase_before(Cursor c, Pool& pool) {
    if (c == end()) return clear(pool);
    if (capacity_ != kMany) {
      count_ -= c.slot;
      std::memmove(static_cast<void*>(items_), items_ + c.slot, count_ * sizeof(T));
      return shrink(pool);
    }
    auto& leaves = directory_->leaves;
    for (std::uint32_t leaf = 0; leaf < c.leaf; ++leaf) {
      directory_->total -= leaves[leaf].count;
      pool.give(leaves[leaf].items, kLeaf * sizeof(T));
    }
    leaves.erase(leaves.begin(), leaves.begin() + c.leaf);
    Leaf& first = leaves.front();
    first.count -= c.slot;
    directory_->total -= c.slot;
    std::memmove(static_cast<void*>(first.items), first.items + c.slot, first.count * sizeof(T));
    first.set_low();
    if (leaves.size() > 1) return;
    const Leaf only = first;
    delete directory_;
    items_ = only.items;
    count_ = only.count;
    capacity_ = kLeaf;
    shrink(pool);
  }
  void clear(Pool& pool) {
    if (capacity_ == kMany) {
      for (const Leaf& leaf : directory_->leaves) pool.give(leaf.items, kLeaf * sizeof(T));
      delete directory_;
    } else if (capacity_ > 0) {
      pool.give(items_, capacity_ * sizeof(T));
    }
    *this = {};
  }

 private:
  static constexpr std::uint32_t kMany = 0xffffffff;
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
    std::vector<Leaf> leaves;
    std::size_t total = 0;
  };

  [[nodiscard]] T* items(std::uint32_t leaf) const {
    return capacity_ == kMany ? directory_->leaves[leaf].items : items_;
  }
  // Where `moment` belongs: the last leaf that does not begin behind it, or the first.
  [[nodiscard]] std::uint32_t leaf_for(const Moment& moment) const {
    const auto& leaves = directory_->leaves;
    if (leaves.back().items[0].at() < moment) {
      return static_cast<std::uint32_t>(leaves.size() - 1);
    }
    const auto found = std::partition_point(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
      return leaf.items[0].at() < moment;
    });
    return found == leaves.begin() ? 0 : static_cast<std::uint32_t>(found - leaves.begin() - 1);
  }
  static void shift_in(T* items, std::uint32_t count, std::uint32_t slot, const T& item) {
    std::memmove(static_cast<void*>(items + slot + 1), items + slot, (count - slot) * sizeof(T));
    items[slot] = item;
  }

  void grow(Pool& pool) {
    if (capacity_ == kLeaf) {
      auto* const directory = new Directory;
      directory->leaves.push_back({items_, count_, 0});
      directory->leaves.back().set_low();
      directory->total = count_;
      directory_ = directory;
      count_ = 1;  // Not empty.
      capacity_ = kMany;
      return;
    }
    resize(capacity_ == 0 ? 1 : capacity_ * 2, pool);
  }
  void shrink(Pool& pool) {
    std::uint32_t wanted = capacity_;
    while (wanted / 2 >= count_ && wanted > 1) wanted /= 2;
    if (wanted < capacity_) resize(wanted, pool);
  }
  void resize(std::uint32_t capacity, Pool& pool) {
    T* const larger = static_cast<T*>(pool.take(capacity * sizeof(T)));
    if (capacity_ > 0) {
      std::memcpy(static_cast<void*>(larger), items_, count_ * sizeof(T));
      pool.give(items_, capacity_ * sizeof(T));
    }
    items_ = larger;
    capacity_ = capacity;
  }
  Cursor insert_in_leaf(Cursor c, const T& item, Pool& pool) {
    auto& leaves = directory_->leaves;
    ++directory_->total;
    // Behind the end of a leaf is before the next; prefer the former, which may have room.
    if (c.slot == 0 && c.leaf > 0) c = {c.leaf - 1, leaves[c.leaf - 1].count};
    if (leaves[c.leaf].count == kLeaf) c = make_room(c, pool);
    Leaf& leaf = leaves[c.leaf];
    shift_in(leaf.items, leaf.count, c.slot, item);
    ++leaf.count;
    leaf.low = leaf.count == 1 ? item.low() : std::min(leaf.low, item.low());
    return c;
  }
  // Splits the full leaf of `c`: at the end of all, without moving anything.
  Cursor make_room(Cursor c, Pool& pool) {
    auto& leaves = directory_->leaves;
    const bool last = c.leaf + 1 == leaves.size() && c.slot == kLeaf;
    const std::uint32_t stay = last ? kLeaf : kLeaf / 2;
    Leaf added{static_cast<T*>(pool.take(kLeaf * sizeof(T))), kLeaf - stay, 0};
    Leaf& full = leaves[c.leaf];
    if (!last) {
      std::memcpy(static_cast<void*>(added.items), full.items + stay, added.count * sizeof(T));
      full.count = stay;
      full.set_low();
      added.set_low();
    }
    leaves.insert(leaves.begin() + c.leaf + 1, added);
    return c.slot > stay || last ? Cursor{c.leaf + 1, c.slot - stay} : c;
  }

  union {
    T* items_ = nullptr;
    Directory* directory_;
  };
  std::uint32_t count_ = 0;     // With a directory: not zero.
  std::uint32_t capacity_ = 0;  // kMany: there is a directory.
};

}  // namespace ouro::stream
