// A history's items in ranges of keys, each range small enough to be sorted and joined in cache.
//
// A counting sort of all items by key touches another cache line, often another page, with every
// item. So the items are first dealt into ranges of keys, a few hundred streams at most, and each
// range is sorted by key on its own, by whichever thread takes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/column.h"
#include "check/observed/items.h"
#include "history/access.h"

namespace ouro {

// An item with all that it takes to join it.
struct Access {
  Value value;
  ItemId item;
  TxnId txn;
  KeyId key;
  OpKind kind = OpKind::Read;
  bool aborted = false;  // Whether its transaction aborted, or it was undone.
  [[nodiscard]] bool is_read() const { return looks_at_key(kind); }
  [[nodiscard]] bool is_write() const { return ouro::is_write(kind); }
};

class KeyRanges {
 public:
  // Deals the items into ranges; those without a key are left out. Also fills `item_txn`, which
  // must outlive the ranges, with the transaction of every item. Meaningless once the budget is
  // exhausted.
  // Cost: two passes over the items, 16 bytes an item.
  KeyRanges(const History& history, const Items& items, unsigned threads, const Budget& budget,
            Column<TxnId>& item_txn);

  [[nodiscard]] std::size_t count() const { return first_key_.size() - 1; }
  // Fills `out` with the accesses of a range: by key, then in the order of their items. False: the
  // budget was exhausted first.
  bool sort(std::size_t range, std::vector<Access>& out) const;
  // Where the first access of the range stands among those of all ranges.
  [[nodiscard]] std::size_t first(std::size_t range) const { return key_first_[first_key_[range]]; }

  // By key: the position of its first access among those of all ranges; one entry more, for the
  // end.
  [[nodiscard]] const std::vector<std::uint32_t>& key_first() const { return key_first_; }

 private:
  // Without constructors: the threads that fill the records are the first to touch their memory.
  struct Record {
    std::uint64_t value;  // Value::bits().
    std::uint32_t item;
    std::uint32_t key_and_kind;  // The key, less the first of the range; its lowest bits: the kind.
  };
  static constexpr unsigned kKindBits = 5;
  static_assert(kOpKindCount <= 1u << kKindBits);
  struct Slice;  // What one thread deals.

  void choose_ranges(std::span<const Slice> slices);
  void deal(Slice& slice);

  const History& history_;
  const Items& items_;
  const Budget& budget_;
  std::vector<std::uint32_t> key_first_;
  std::vector<std::uint32_t> first_key_;  // By range; one entry more: the number of keys.
  std::vector<std::uint16_t> range_of_key_;
  std::unique_ptr<Record[]> records_;
  Column<TxnId>& item_txn_;
};

}  // namespace ouro
