// Elements that were appended to a list more than once, and who may have appended those that reads
// show.
//
// A read of [1,2,1] says which elements there are, in which order, but not which append each of
// them is. Three rules narrow that down, whatever the level; an element may be
//   - the append of a transaction that did not abort,
//   - which did not read it as somebody else's: in a list without its own appends, or before them,
//   - but if a committed transaction read it among its own appends, at the end, it is that one's.
// Each append is one element at most. So all reads of the list agree in who appended an element:
// they are prefixes of one list, or that alone is wrong.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "check/observed/items.h"

namespace ouro {

class Observed;

class RepeatedElements {
 public:
  RepeatedElements() = default;
  // REQUIRES: the items of `key` are known in `observed`; the key is a list.
  // Cost: O(n log n) for n items of the key, and the own appends that its reads show.
  RepeatedElements(const Observed& observed, KeyId key);

  [[nodiscard]] bool empty() const { return groups_.empty(); }
  // Whether transactions that did not abort appended the element more than once.
  [[nodiscard]] bool contains(Value element) const { return groups_.contains(element); }

  struct Append {
    TxnId txn;
    ItemId item;
    std::uint32_t seen = 0;  // How many elements of others its transaction read; it comes later.
  };
  // The appends of a repeated element: those that a committed transaction read as its own last, the
  // others by `seen`.
  [[nodiscard]] std::span<const Append> appends(Value element) const;
  // The only transaction that may have appended the element at `position`, from 0; not valid if
  // there are several.
  [[nodiscard]] TxnId only(Value element, std::uint32_t position) const;
  // All that may.
  [[nodiscard]] std::vector<TxnId> candidates(Value element, std::uint32_t position) const;
  // The `number`th append of the element by `txn`, from 0, in program order; not valid if it made
  // fewer. And the last append by anybody, in the order of items.
  [[nodiscard]] ItemId append(Value element, TxnId txn, std::uint32_t number) const;
  [[nodiscard]] ItemId last_append(Value element) const {
    return in_order_[groups_.at(element).end - 1].second;
  }

 private:
  struct Group {
    std::uint32_t first = 0;  // Into appends_.
    std::uint32_t free = 0;   // Where those begin that are read as own.
    std::uint32_t end = 0;
  };
  void add_groups(const Observed& observed, std::span<const ItemId> items);
  void look_at_reads(const Observed& observed, std::span<const ItemId> items);
  // Those that may be at `position`.
  [[nodiscard]] std::span<const Append> possible(Value element, std::uint32_t position) const;

  absl::flat_hash_map<Value, Group> groups_;
  std::vector<Append> appends_;
  // The same, but those of an element in the order of items.
  std::vector<std::pair<TxnId, ItemId>> in_order_;
  // By position: the append of a committed transaction that read it as its own; and all of these.
  struct Own {
    Value element;
    TxnId txn;
  };
  absl::flat_hash_map<std::uint32_t, Own> own_;
  absl::flat_hash_set<ItemId> owned_;
  absl::flat_hash_map<TxnId, std::uint32_t> seen_;
};

}  // namespace ouro
