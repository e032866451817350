// What a history shows: every read joined to the write it returned.
//
// This is the common ground of all black-box engines. It resolves which unknown transactions
// count, tells external reads from reads of own writes, and lists what is wrong in plain sight.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/column.h"
#include "check/observed/items.h"
#include "check/observed/listed_rows.h"
#include "history/columns.h"
#include "ouro/check.h"

namespace ouro {

// Something wrong that one or two items show.
struct WrongRead {
  AnomalyKind kind = AnomalyKind::Internal;
  ItemId item;   // The read; at VersionOrderMismatch the write that is listed or missing.
  ItemId other;  // The write it returned, or what it contradicts; invalid if there is none.
  constexpr auto operator<=>(const WrongRead&) const = default;
};

// `to` follows `from` in the version order of their key: a list read shows both, or shows `from`
// and not `to`; or the history states it.
struct VersionStep {
  ItemId from;  // Writes, of different transactions; invalid: `to` is the first of the key.
  ItemId to;
  ItemId read;            // The list read; invalid: the history states it.
  bool adjacent = false;  // No version is between them.
  constexpr auto operator<=>(const VersionStep&) const = default;
};

// An element of a list that several transactions may have appended.
struct OpenElement {
  KeyId key;
  std::uint32_t position = 0;  // From 0.
  ItemId read;                 // The longest read of the list.
};

// What passes over the items of a key mostly ask of each. Links of a key lie side by side in
// memory; looking the same up by item would be a cache miss each time.
struct KeyLink {
  TxnId txn;
  // Of an external read, the position among the items of the key of the write that it returned, or
  // Observed::kInitial. Of a write, one of the codes below. Of other reads, Observed::kOwn or
  // kNone.
  std::uint32_t source = 0;
  // Whether it is its transaction's last write of the key.
  static constexpr std::uint32_t kFinalWrite = 0xfffffff8;
  static constexpr std::uint32_t kOtherWrite = 0xfffffff9;
  [[nodiscard]] bool is_write() const { return source >= kFinalWrite; }
};

// A transaction with a predicate read follows a writer, or, with `overwrites`, precedes it.
// check/versions/ finds these.
struct PredicateEdge {
  TxnId reader;
  OpId read;     // A select or an aggregate.
  ItemId write;  // A write that changes what the predicate matches.
  bool overwrites = false;
};

// Something wrong with a predicate read: its version set has a version that nobody may see, or its
// result is not what its snapshot implies.
struct PredicateFlaw {
  AnomalyKind kind = AnomalyKind::ResultSetMismatch;
  OpId read;
  OpId write;            // Of that version; invalid: nobody wrote it, or the result is wrong.
  std::string expected;  // If the result is wrong: what it should be, as JSON.
};

// Whether scans list the tombstones that deletes left. Then a scan met none of a key that it did
// not list.
enum class Tombstones : std::uint8_t { Listed, Unlisted };

class Join;
struct Access;

class Observed {
 public:
  // Joins the reads of `history`, which must outlive the result. The error is a history that cannot
  // be read unambiguously: a key is both a register and a list, or a version order has what nobody
  // wrote, or what several did. An exhausted budget leaves stopped() true and the rest meaningless.
  // The history's version orders count only if that is the `evidence`. `sources` says what some
  // open reads returned; the others say nothing. `untold`, which is sorted, lists keys of which
  // predicate reads do not tell, and which are to be reads as well. Rows that scans returned are
  // reads as `rows` says. Cost: expected linear, 20 bytes an operation (36 while it runs).
  static Result<Observed> observe(const History& history, const Budget& budget, unsigned threads,
                                  Evidence evidence = Evidence::Observed,
                                  Tombstones tombstones = Tombstones::Listed,
                                  std::span<const ReadSource> sources = {},
                                  std::span<const ReadKey> untold = {}, RowChoice rows = {});
  // The same history joined again, with `sources` in place of those that were given before. It has
  // the same predicate_edges().
  [[nodiscard]] Result<Observed> with_sources(std::span<const ReadSource> sources,
                                              const Budget& budget, unsigned threads) const {
    auto out = observe(*history_, budget, threads, evidence_, tombstones_, sources, untold_, rows_);
    if (out.ok()) out->predicate_edges_ = predicate_edges_;
    return out;
  }
  // The same with other `untold` keys, and with other rows.
  [[nodiscard]] Result<Observed> with_untold(std::span<const ReadKey> untold, const Budget& budget,
                                             unsigned threads) const {
    return with_reads(untold, rows_, budget, threads);
  }
  [[nodiscard]] Result<Observed> with_reads(std::span<const ReadKey> untold, RowChoice rows,
                                            const Budget& budget, unsigned threads) const {
    return observe(*history_, budget, threads, evidence_, tombstones_, sources_, untold,
                   std::move(rows));
  }
  // Which rows of scans are reads. Those that are left out are plain (ListedRows::needed()).
  [[nodiscard]] const RowChoice& rows() const { return rows_; }

  [[nodiscard]] const History& history() const { return *history_; }
  [[nodiscard]] const Items& items() const { return items_; }
  // Whether the budget was exhausted. Then nothing else may be asked.
  [[nodiscard]] bool stopped() const { return stopped_; }

  // Whether the transaction takes part: committed, or unknown and seen by one that takes part, or
  // in a version order.
  [[nodiscard]] bool counted(TxnId txn) const { return counted_[txn.index()]; }
  [[nodiscard]] std::size_t counted_count() const { return counted_count_; }

  [[nodiscard]] TxnId txn(ItemId item) const { return item_txn_[item.index()]; }
  // Whether a read returned another transaction's write, or the initial value.
  [[nodiscard]] bool external(ItemId read) const { return source_[read.index()] <= kInitial; }
  // The write that an external read returned; invalid: the initial value. For a list, the last
  // append of others that it shows: a list read is external even behind own appends.
  [[nodiscard]] ItemId write(ItemId read) const {
    const std::uint32_t source = source_[read.index()];
    return source == kInitial ? ItemId{} : ItemId{source};
  }
  // Who wrote what an external read returned; may be kInitialTxn.
  [[nodiscard]] TxnId writer(ItemId read) const {
    const ItemId write = this->write(read);
    return write.valid() ? txn(write) : kInitialTxn;
  }
  // Whether no later write of the same transaction goes to the same key.
  [[nodiscard]] bool final(ItemId write) const { return source_[write.index()] == write.value; }

  // All items of a key, sorted.
  [[nodiscard]] std::span<const ItemId> items_of(KeyId key) const {
    return key_items_.span().subspan(key_first_[key.index()],
                                     key_first_[key.index() + 1] - key_first_[key.index()]);
  }

  // One link per item, at the same index as items_of().
  [[nodiscard]] std::span<const KeyLink> links_of(KeyId key) const {
    return key_links_.span().subspan(key_first_[key.index()],
                                     key_first_[key.index() + 1] - key_first_[key.index()]);
  }
  // How many items the keys before `key` have; `key` may be one behind the last.
  [[nodiscard]] std::size_t items_before(KeyId key) const { return key_first_[key.index()]; }

  // The append that wrote the element at `position` of `list`; invalid if nobody did, or if it is
  // open who did.
  [[nodiscard]] ItemId append_of(Value list, std::size_t position) const {
    const ItemId append = element_item_[first_element(list) + position];
    return append == kOpenElement ? ItemId{} : append;
  }
  [[nodiscard]] bool is_open_element(Value list, std::size_t position) const {
    return element_item_[first_element(list) + position] == kOpenElement;
  }
  // The elements of lists of which it is open who appended them, by key and position; but for those
  // of which `sources` said it.
  [[nodiscard]] std::span<const OpenElement> open_elements() const { return open_elements_; }

  // What is wrong in plain sight, in the order of items. Reads of transactions that do not take
  // part are left out.
  [[nodiscard]] const std::vector<WrongRead>& wrong_reads() const { return wrong_reads_; }
  // Open reads, in the order of items: those that say only what they did not return, but for reads
  // behind an own write of the key and those of which `sources` said what they returned.
  [[nodiscard]] std::span<const ItemId> open_reads() const { return open_reads_; }
  // Whether an open read may have returned what `write` left; invalid: the initial version.
  [[nodiscard]] bool fits(ItemId open_read, ItemId write) const;
  // What an open read may have returned: the last write of its key by each other transaction that
  // did not abort, if the value fits; an invalid item stands for the initial version.
  [[nodiscard]] std::vector<ItemId> candidates(ItemId open_read) const;
  // Whether a scan lists a version: rows, and tombstones if scans list those. An invalid `write`
  // stands for the initial version.
  [[nodiscard]] bool is_listed(KeyId key, ItemId write) const;
  // Whether some reads are of keys that predicate reads do not tell of.
  [[nodiscard]] bool has_untold() const { return !untold_.empty(); }
  // Those of open_reads() whose transaction takes part, and so does every transaction that may have
  // written what they returned. A search can find out what they returned; of the others it first
  // must be said whether more transactions take part. Rows of counters are not among them.
  [[nodiscard]] std::span<const ItemId> searched_reads() const { return searched_reads_; }
  // By versions: the edges of predicate reads that a decision has to keep, sorted by reader; they
  // are a part of all (versions/predicate_reads.h).
  [[nodiscard]] std::span<const PredicateEdge> predicate_edges() const { return predicate_edges_; }
  void set_predicate_edges(std::vector<PredicateEdge> edges) {
    predicate_edges_ = std::move(edges);
  }
  // What is known of version orders, sorted by key.
  [[nodiscard]] std::span<const VersionStep> version_steps() const { return version_steps_; }
  [[nodiscard]] std::span<const VersionStep> version_steps(KeyId key) const;

  // Codes in source_ that are no items. The source of a write is its transaction's last write of
  // the key.
  static constexpr std::uint32_t kInitial = 0xfffffff0;
  static constexpr std::uint32_t kOwn = 0xfffffff1;   // A read of an own write.
  static constexpr std::uint32_t kNone = 0xfffffff2;  // Not observed, or wrong in plain sight.

 private:
  friend class Join;
  Observed(const History& history, const Budget& budget, Evidence evidence,
           std::span<const ReadKey> untold, RowChoice rows)
      : history_(&history),
        evidence_(evidence),
        untold_(untold.begin(), untold.end()),
        rows_(std::move(rows)),
        items_(history, budget, evidence, untold, rows_) {}
  [[nodiscard]] std::size_t first_element(Value list) const {
    return list.trunk() == 0 ? 0 : columns_of(*history_).trunk_end[list.trunk() - 1];
  }
  void join_keys(std::span<Join> joins, unsigned threads, const Budget& budget);
  void join_range(std::size_t first, std::span<const Access> accesses, Join& join);
  void resolve_unknown(std::span<const ItemId> installed);
  void find_searched_reads();
  void order_lists(const std::vector<KeyId>& keys, const Budget& budget);
  void keep_counted_wrong_reads();

  const History* history_;
  Evidence evidence_ = Evidence::Observed;
  std::vector<ReadKey> untold_;
  RowChoice rows_;
  Tombstones tombstones_ = Tombstones::Listed;
  std::vector<ReadSource> sources_;  // Sorted by operation.
  std::vector<ItemId> open_reads_;
  std::vector<ItemId> searched_reads_;
  std::vector<OpenElement> open_elements_;
  // What `sources` say of elements: by key and position.
  absl::flat_hash_map<std::pair<KeyId, std::uint32_t>, TxnId> said_elements_;
  Items items_;
  bool stopped_ = false;
  std::vector<bool> counted_;
  std::size_t counted_count_ = 0;
  Column<TxnId> item_txn_;
  // By item: the write that a read returned, as an item, or a code above.
  std::vector<std::uint32_t> source_;
  // By key: where its items begin in the two columns below; one entry more, for the end.
  std::vector<std::uint32_t> key_first_;
  Column<ItemId> key_items_;
  Column<KeyLink> key_links_;
  // One per element, at the same index as HistoryColumns::elements: its append, or kOpenElement.
  std::vector<ItemId> element_item_;
  static constexpr ItemId kOpenElement{0xfffffffe};
  std::vector<WrongRead> wrong_reads_;
  std::vector<VersionStep> version_steps_;
  std::vector<PredicateEdge> predicate_edges_;
};

// The last write of `key` by `txn`; invalid if there is none.
[[nodiscard]] ItemId final_write(const Observed& observed, TxnId txn, KeyId key);

// Fills in `out` and returns true if one of observed.predicate_edges() makes `from` precede `to`:
// with `overwrites`, as `to` overwrote what `from` read; otherwise as `to` read what `from` wrote.
[[nodiscard]] bool explain_predicate(const Observed& observed, TxnId from, TxnId to,
                                     bool overwrites, Edge& out);

}  // namespace ouro
