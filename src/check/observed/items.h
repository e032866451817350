// A history's operations as single reads and writes of keys.
//
// Where a history has no predicate reads the items are its operations, and nothing is copied.
// Otherwise each row that a scan or select returned becomes a read, and so does, for scans, the
// absence of every known key in the range that was not returned. Lists are no rows, so scans do not
// miss them. What the version set of a scan lists of a key is what it read of it. Of the keys that
// selects and aggregates do not tell of (ReadKey), those that are asked for become reads, too.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.h"
#include "history/access.h"
#include "ouro/check.h"
#include "ouro/history.h"

namespace ouro {

using ItemId = Id<struct ItemTag>;

class Items {
 public:
  // REQUIRES: `history` outlives the items. They are incomplete once the budget is exhausted.
  // `untold` is sorted.
  Items(const History& history, const Budget& budget, std::span<const ReadKey> untold = {});

  // Whether there are more than can be numbered. Then they are incomplete and must not be used.
  [[nodiscard]] bool too_many() const { return too_many_; }

  [[nodiscard]] std::size_t size() const { return kind_.size(); }
  [[nodiscard]] OpKind kind(ItemId item) const { return kind_[item.index()]; }
  // Invalid for aggregates, which read no single key.
  [[nodiscard]] KeyId key(ItemId item) const { return key_[item.index()]; }
  [[nodiscard]] Value value(ItemId item) const { return value_[item.index()]; }
  // The operation that the item is, or is a part of.
  [[nodiscard]] OpId op(ItemId item) const {
    return op_.empty() ? OpId{item.index()} : op_[item.index()];
  }
  [[nodiscard]] ItemId first(TxnId txn) const { return ItemId{first_[txn.index()]}; }
  [[nodiscard]] ItemId end(TxnId txn) const { return ItemId{first_[txn.index() + 1]}; }
  [[nodiscard]] bool is_read(ItemId item) const { return looks_at_key(kind(item)); }
  [[nodiscard]] bool is_write(ItemId item) const { return ouro::is_write(kind(item)); }
  // Whether the item says that a scan did not find the key. A row that was returned as null counts
  // as not found. The value is null, or the tombstone that the version set of the scan lists.
  // What a select or an aggregate does not tell of counts as not found.
  [[nodiscard]] bool is_absence(ItemId item) const {
    if (op_.empty() || !is_read(item)) return false;
    if (op_kind_[op(item).index()] != OpKind::Scan) return is_untold(item);
    return value(item).is_null() || unreturned_.contains(item);
  }
  // Whether the item is a key that a select or an aggregate does not tell of.
  [[nodiscard]] bool is_untold(ItemId item) const {
    return !untold_.empty() && std::binary_search(untold_.begin(), untold_.end(), item);
  }
  // Whether such an item may stand for a tombstone that the scan does not tell: it has no version
  // set, which would list it.
  [[nodiscard]] bool may_be_tombstone(ItemId item) const {
    return is_absence(item) && value(item).is_null() && !has_set_[op(item).index()] &&
           !is_untold(item);
  }

 private:
  void flatten(const History& history, const Budget& budget, std::span<const ReadKey> untold);

  std::span<const OpKind> op_kind_;  // By operation, not by item.
  std::span<const OpKind> kind_;
  std::span<const KeyId> key_;
  std::span<const Value> value_;
  // Empty: items are operations.
  std::span<const OpId> op_;
  std::span<const std::uint32_t> first_;

  bool too_many_ = false;
  // What the spans above refer to, if the history has predicate reads; otherwise empty.
  std::vector<OpKind> own_kind_;
  std::vector<KeyId> own_key_;
  std::vector<Value> own_value_;
  std::vector<OpId> own_op_;
  std::vector<std::uint32_t> own_first_;
  std::vector<bool> has_set_;  // By operation: whether it is a scan with a version set.
  absl::flat_hash_set<ItemId> unreturned_;  // Versions that only the version set of a scan lists.
  std::vector<ItemId> untold_;              // Sorted.
};

// Whether some scan lists the tombstone that a delete left.
[[nodiscard]] bool scans_list_tombstones(const History& history);

}  // namespace ouro
