// Joins the reads of one key after the other to its writes. One Join per thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <vector>

#include "check/observed.h"

namespace ouro {

class Join {
 public:
  explicit Join(Observed& observed)
      : o_(observed), h_(observed.history()), items_(observed.items()) {}

  // Fills the sources of all items of `key`.
  void key(KeyId key);

  // An input error; the one with the smallest item is the one to report.
  struct Fault {
    ItemId item;
    std::string what;
  };
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::vector<WrongRead>& wrong_reads() { return wrong_reads_; }
  [[nodiscard]] const std::vector<KeyId>& list_keys() const { return list_keys_; }

 private:
  // Registers.
  void add_write(ItemId item, Value value);
  void read_group(std::size_t first, std::size_t end);
  std::uint32_t external_source(ItemId item, Value value);
  std::uint32_t null_source(ItemId item);

  // Lists; see list_join.cc.
  void list_key();
  bool check_list_kinds();
  void add_appends();
  void resolve_trunk(Value list);
  void read_list_group(std::size_t first, std::size_t end);
  bool shows_own_appends(ItemId item, Value list, std::span<const ItemId> own);
  std::uint32_t list_source(ItemId item, Value list);

  // The slot of `value` in the table, which may be empty.
  struct Slot {
    Value value;
    ItemId item;
    std::uint32_t epoch = 0;
  };
  Slot& slot(Value value);
  [[nodiscard]] ItemId find(Value value);
  void clear_table(std::size_t writes);

  [[nodiscard]] TxnStatus status(ItemId item) const { return h_.status(o_.txn(item)); }
  [[nodiscard]] Value value(std::size_t at) const { return o_.key_values_[at]; }
  // Calls f(first, end) for the items of each transaction, in key_items_.
  template <class F>
  void for_each_group(const F& f) {
    for (std::size_t i = first_; i < end_;) {
      std::size_t end = i + 1;
      while (end < end_ && o_.txn(o_.key_items_[end]) == o_.txn(o_.key_items_[i])) ++end;
      f(i, end);
      i = end;
    }
  }
  void link_final_writes();
  void set_source(ItemId item, std::uint32_t source) { o_.source_[item.index()] = source; }
  void find_wrong(AnomalyKind kind, ItemId item, ItemId other) {
    wrong_reads_.push_back({kind, item, other});
  }
  void fail(ItemId item, std::string what);
  [[nodiscard]] std::string name(ItemId item) const;
  [[nodiscard]] std::string where(ItemId item) const;

  Observed& o_;
  const History& h_;
  const Items& items_;
  KeyId key_;
  std::size_t first_ = 0, end_ = 0;  // Of the key, in key_items_.
  Value initial_;
  std::vector<Slot> table_;
  std::uint32_t epoch_ = 0;
  std::size_t mask_ = 0;
  std::vector<ItemId> null_writes_;  // Of transactions that did not abort.
  ItemId aborted_null_write_;

  // How far the prefixes of a trunk are sound: the first position of each kind of fault.
  struct Trunk {
    std::uint32_t thin_air = 0xffffffff;
    std::uint32_t aborted = 0xffffffff;
    std::uint32_t duplicate = 0xffffffff;
  };
  absl::flat_hash_map<std::uint32_t, Trunk> trunks_;  // Of this key.
  std::vector<ItemId> own_;

  std::optional<Fault> fault_;
  std::vector<WrongRead> wrong_reads_;
  std::vector<KeyId> list_keys_;
};

}  // namespace ouro
