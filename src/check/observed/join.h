// Joins the reads of one key after the other to its writes. One Join per thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <vector>

#include "check/observed/key_ranges.h"
#include "check/observed/observed.h"

namespace ouro {

class Join {
 public:
  Join(Observed& observed, Absences absences, const Budget& budget)
      : o_(observed),
        h_(observed.history()),
        items_(observed.items()),
        absences_(absences),
        ticker_(budget) {}

  // Fills the sources of all items of a key, and `links` beside its accesses; with something else
  // once the budget is exhausted. REQUIRES: `accesses` are those of one key, as KeyRanges::sort()
  // leaves them.
  void key(std::span<const Access> accesses, std::span<KeyLink> links);

  // An input error; the one with the smallest item is the one to report.
  struct Fault {
    ItemId item;
    std::string what;
  };
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::vector<WrongRead>& wrong_reads() { return wrong_reads_; }
  [[nodiscard]] const std::vector<KeyId>& list_keys() const { return list_keys_; }
  // Those of Observed::open_reads().
  [[nodiscard]] const std::vector<ItemId>& open_reads() const { return open_reads_; }
  // The first of which Observed::unclear() speaks.
  [[nodiscard]] ItemId unclear() const { return unclear_; }

 private:
  // Registers.
  void add_write(std::uint32_t at);
  void read_group(std::uint32_t first, std::uint32_t end);
  void open_read(std::uint32_t at, const Access* own, const Access* earlier, Value earlier_value);
  void compare_open_reads(std::uint32_t at, Value value);
  [[nodiscard]] Value seen_value(std::uint32_t i) const;
  [[nodiscard]] bool may_be_anything(const Access& open_read) const;
  [[nodiscard]] const ReadSource* said_source(const Access& open_read) const;
  std::uint32_t external_source(const Access& read);
  std::uint32_t null_source(const Access& read);
  std::uint32_t absence_source(const Access& read);
  static void add_delete(std::span<const Access> accesses, std::uint32_t at,
                         std::vector<std::uint32_t>& deletes);
  std::uint32_t source_through(const Access& read, std::uint32_t write);

  // Lists; see list_join.cc.
  void list_key();
  bool check_list_kinds();
  void add_appends();
  void resolve_trunk(Value list);
  void read_list_group(std::uint32_t first, std::uint32_t end);
  bool shows_own_appends(ItemId item, Value list, std::span<const ItemId> own);
  [[nodiscard]] std::uint32_t position(ItemId item) const;
  std::uint32_t list_source(ItemId item, Value list);

  // The slot of `value` in the table, which may be empty.
  struct Slot {
    Value value;
    std::uint32_t at = 0;  // The write, among the accesses.
    std::uint32_t epoch = 0;
  };
  Slot& slot(Value value);
  // The write of `value`; kNoWrite if there is none.
  [[nodiscard]] std::uint32_t find(Value value);
  void clear_table(std::size_t writes);
  static constexpr std::uint32_t kNoWrite = 0xffffffff;
  static constexpr std::uint32_t kUnclear = 0xfffffffe;  // Of a read that is left out.

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(accesses_.size()); }
  // Calls f(first, end) for the accesses of each transaction.
  template <class F>
  void for_each_group(const F& f) {
    for (std::uint32_t i = 0; i < size() && !ticker_.tick();) {
      std::uint32_t end = i + 1;
      while (end < size() && accesses_[end].txn == accesses_[i].txn) ++end;
      f(i, end);
      i = end;
    }
  }
  void link_final_writes();
  void fill_links(std::span<KeyLink> links) const;
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
  const Absences absences_;
  BudgetTicker ticker_;
  std::span<const Access> accesses_;  // Of the key at hand.
  // One per access, at the same index: the position of the write that a read returned, of the final
  // one that replaced a write; or a code.
  std::vector<std::uint32_t> sources_;
  Value initial_;
  std::vector<Slot> table_;
  std::uint32_t epoch_ = 0;
  std::size_t mask_ = 0;
  std::vector<std::uint32_t> null_writes_;  // Of transactions that did not abort.
  std::uint32_t aborted_null_write_ = kNoWrite;
  std::vector<std::uint32_t> tombstones_;  // Deletes of such that left one.
  ItemId unclear_;

  // How far the prefixes of a trunk are sound: the first position of each kind of fault.
  struct Trunk {
    std::uint32_t thin_air = 0xffffffff;
    std::uint32_t aborted = 0xffffffff;
    std::uint32_t duplicate = 0xffffffff;
  };
  absl::flat_hash_map<std::uint32_t, Trunk> trunks_;  // Of this key.
  std::vector<ItemId> own_;

  std::vector<ItemId> open_reads_;
  std::optional<Fault> fault_;
  std::vector<WrongRead> wrong_reads_;
  std::vector<KeyId> list_keys_;
};

}  // namespace ouro
