// Joins the reads of a history to the writes that they returned, key by key. Every thread has a
// Join of its own; Observed collects what they found.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <vector>

#include "check/observed/key_ranges.h"
#include "check/observed/observed.h"
#include "check/observed/repeated_elements.h"

namespace ouro {

class Join {
 public:
  Join(Observed& observed, Tombstones tombstones, const Budget& budget)
      : o_(observed),
        h_(observed.history()),
        items_(observed.items()),
        scans_list_(tombstones == Tombstones::Listed),
        ticker_(budget) {}

  // Sets the sources of all items of a key in Observed, and fills `links`, one per access at the
  // same index. Both are meaningless once the budget is exhausted.
  // REQUIRES: `accesses` are those of one key, as KeyRanges::sort() leaves them.
  void key(std::span<const Access> accesses, std::span<KeyLink> links);

  // An input error. Of several, the one with the smallest item is reported.
  struct Fault {
    ItemId item;
    std::string what;
  };
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::vector<WrongRead>& wrong_reads() { return wrong_reads_; }
  [[nodiscard]] const std::vector<KeyId>& list_keys() const { return list_keys_; }
  // See Observed::open_reads().
  [[nodiscard]] const std::vector<ItemId>& open_reads() const { return open_reads_; }

 private:
  // Registers.
  void add_write(std::uint32_t at);
  void add_undone(std::uint32_t at);
  void read_group(std::uint32_t first, std::uint32_t end);
  // What a read may have returned, of all that its transaction did not write before.
  struct Possible {
    std::uint32_t count = 0;                // Versions that others left, and the initial one.
    std::uint32_t one = 0;                  // One of them: a position, or Observed::kInitial.
    std::uint32_t own = kNoWrite;           // A later write of its own, …
    std::uint32_t intermediate = kNoWrite;  // … one that its transaction overwrote, …
    std::uint32_t aborted = kNoWrite;       // … and one that was rolled back, if any.
  };
  void add_possible(const Access& read, std::uint32_t write, Possible& out) const;
  [[nodiscard]] Possible possible_nulls(const Access& read) const;
  [[nodiscard]] Possible possible_absences(const Access& read) const;
  [[nodiscard]] Possible possible_values(const Access& read);
  std::uint32_t choose(const Access& read, const Possible& possible);
  [[nodiscard]] std::uint32_t later_own(std::uint32_t at, std::uint32_t end) const;
  [[nodiscard]] const Access* undone_own(std::uint32_t first, std::uint32_t at) const;
  bool take_said(std::uint32_t at);
  void open_read(std::uint32_t at, const Access* own, const Access* earlier, Value earlier_value);
  void untold_read(std::uint32_t at, const Access* own);
  void compare_untold(std::uint32_t at, std::uint32_t& seen);
  void compare_open_reads(std::uint32_t at, Value value);
  [[nodiscard]] bool is_listed(Value value) const;
  [[nodiscard]] Value seen_value(std::uint32_t i) const;
  [[nodiscard]] bool may_be_anything(const Access& open_read) const;
  [[nodiscard]] const ReadSource* said_source(const Access& open_read) const;
  std::uint32_t external_source(std::uint32_t at);
  static void add_delete(std::span<const Access> accesses, std::uint32_t at,
                         std::vector<std::uint32_t>& deletes);
  std::uint32_t source_through(const Access& read, std::uint32_t write);

  // Lists; see list_join.cc.
  struct Trunk;
  void list_key();
  bool check_list_kinds();
  void add_appends();
  void resolve_trunk(Value list);
  ItemId repeated_append(Value element, std::uint32_t position, Trunk& trunk);
  void read_list_group(std::uint32_t first, std::uint32_t end);
  bool shows_own_appends(ItemId item, Value list, std::span<const ItemId> own);
  [[nodiscard]] std::uint32_t position(ItemId item) const;
  std::uint32_t list_source(ItemId item, Value list);

  // The writes of the key at hand are in a hash table by value. A slot is in use if its epoch is
  // the current one, so that clearing the table takes no time.
  struct Slot {
    Value value;
    std::uint32_t at = 0;  // The position of the write among the accesses.
    std::uint32_t epoch = 0;
  };
  // The slot of `value`, which may not be in use.
  Slot& slot(Value value);
  // The position of the write of `value`; kNoWrite if there is none.
  [[nodiscard]] std::uint32_t find(Value value);
  void clear_table(std::size_t writes);
  static constexpr std::uint32_t kNoWrite = 0xffffffff;
  // The source of a read that has several possible ones.
  static constexpr std::uint32_t kOpen = 0xfffffffd;

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

  Observed& o_;
  const History& h_;
  const Items& items_;
  const bool scans_list_;  // Whether scans list tombstones.
  BudgetTicker ticker_;
  std::span<const Access> accesses_;  // Of the key at hand, by transaction and in program order.
  // One per access, at the same index. Of a read, the position of the write that it returned; of a
  // write, that of its transaction's last write of the key. Otherwise a code of Observed.
  std::vector<std::uint32_t> sources_;
  Value initial_;
  std::vector<Slot> table_;
  std::uint32_t epoch_ = 0;
  std::size_t mask_ = 0;
  // By position of a write: that of an earlier write of the same value by another transaction that
  // did not abort; kNoWrite if there is none. Empty if no value of the key repeats.
  std::vector<std::uint32_t> repeats_;
  // Positions of writes of null, which are deletes without a tombstone: the last one of each
  // transaction that did not abort.
  std::vector<std::uint32_t> null_writes_;
  std::uint32_t aborted_null_write_ = kNoWrite;
  std::vector<std::uint32_t> tombstones_;  // The same for deletes that left a tombstone.

  // How far the prefixes of a trunk (history_builder.h) are right: the first position of each kind
  // of fault.
  struct Trunk {
    // How often repeated elements were shown so far, and those of one transaction.
    absl::flat_hash_map<Value, std::uint32_t> shown;
    absl::flat_hash_map<std::pair<Value, TxnId>, std::uint32_t> shown_of;
    std::uint32_t thin_air = 0xffffffff;
    std::uint32_t aborted = 0xffffffff;
    std::uint32_t duplicate = 0xffffffff;
  };
  absl::flat_hash_map<std::uint32_t, Trunk> trunks_;  // By number, those of the key at hand.
  // By position of an append: which of these showed it last, counting from one; zero: none.
  std::vector<std::uint32_t> shown_in_;
  // Appends that the transaction at hand has made so far.
  std::vector<ItemId> own_;
  bool appends_repeat_ = false;  // Whether an element was appended twice to the list at hand.
  RepeatedElements repeated_;

  std::vector<ItemId> open_reads_;
  std::optional<Fault> fault_;
  std::vector<WrongRead> wrong_reads_;
  std::vector<KeyId> list_keys_;
};

}  // namespace ouro
