// What a history shows, read a second time and on its own terms.
//
// This repeats, in other words, what the engines do before they decide anything: take predicate
// reads apart, join every read to the write it returned, find out which unknown transactions
// count, and note what is wrong in plain sight. Sharing that code would share its mistakes.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "certify/counters.h"
#include "certify/list_elements.h"
#include "history/columns.h"
#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro::recheck {

using AccessId = std::uint32_t;
inline constexpr AccessId kNoAccess = 0xffffffff;

// One read or write of one key.
struct Access {
  OpId op;
  TxnId txn;
  KeyId key;
  OpKind kind = OpKind::Read;  // Never a predicate read.
  Value value;
};

// A version order that the history states.
struct StatedOrder {
  KeyId key;
  bool complete = false;
  std::vector<AccessId> writes;  // Oldest first.
};

// Something wrong in plain sight: the read, and what it contradicts or took its value from.
struct Flaw {
  AnomalyKind kind = AnomalyKind::Internal;
  AccessId read = kNoAccess;
  AccessId other = kNoAccess;
  OpId undone;  // Instead of `other`: a write that its own transaction undid.
};

// A read that does not return what the same part of its transaction wrote, and undid later.
struct UndoneFlaw {
  OpId read;
  OpId write;
};

class Reading {
 public:
  // Reads a history, which must outlive the result. The error is a history in which it is unclear
  // which write a read returned, or which one a version order means. Version orders are read only
  // if they are the `evidence`. `sources` say what some open reads returned. `untold` are keys that
  // predicate reads do not tell of and that count as reads, too; of scans perhaps all such keys do.
  // REQUIRES: the sources are candidates; the keys are rows that the operations did not return.
  enum class ScanKeys : bool { Untold, All };
  static Result<Reading> of(const History& history, Evidence evidence = Evidence::Observed,
                            std::span<const ReadSource> sources = {},
                            std::span<const ReadKey> untold = {},
                            ScanKeys scan_keys = ScanKeys::Untold);
  // The read of `key` by `op`; kNoAccess if there is none.
  [[nodiscard]] AccessId read_of(OpId op, KeyId key) const;
  // Whether a read is open: its transaction did not abort and did not write the key before, and it
  // has more than one candidate, or is a compare-and-set that failed. With a source it is a read
  // like any other; without, it says nothing. A select saw of an untold key what it does not match,
  // a scan no row, an aggregate anything.
  [[nodiscard]] bool is_open(AccessId read) const;
  // The transactions whose last write of the key a read may have returned; kInitialTxn stands for
  // the initial version.
  [[nodiscard]] std::vector<TxnId> candidates(AccessId read) const;
  // Whether `writer` is among them.
  [[nodiscard]] bool is_candidate(AccessId read, TxnId writer) const;
  // Whether a transaction that counts has an open read without a source, or shows an open element.
  [[nodiscard]] bool has_open() const;
  // Whether it is open who appended the element at `position`, from 0, of a list, and no source
  // says it.
  [[nodiscard]] bool is_open_element(Value list, std::size_t position) const {
    return open_elements_[first_element(list) + position];
  }
  // The transactions that may have appended element number `element`, from 1, of what `read` of
  // `key` returned. Empty if there is no such element, or if it tells by itself whose it is.
  [[nodiscard]] std::vector<TxnId> candidates(OpId read, KeyId key, std::uint32_t element) const;

  [[nodiscard]] const History& history() const { return *h_; }
  [[nodiscard]] std::size_t access_count() const { return accesses_.size(); }
  [[nodiscard]] const Access& access(AccessId id) const { return accesses_[id]; }
  [[nodiscard]] AccessId first(TxnId txn) const { return txn_first_[txn.index()]; }
  [[nodiscard]] AccessId end(TxnId txn) const { return txn_first_[txn.index() + 1]; }
  // The first access of an operation, and the one behind its last: a predicate read has one for
  // each row.
  [[nodiscard]] std::pair<AccessId, AccessId> accesses_of(OpId op) const {
    return {op_first_[op.index()], op_first_[op.index() + 1]};
  }

  [[nodiscard]] bool is_write(AccessId id) const { return ouro::is_write(accesses_[id].kind); }
  // Whether a read returned what another transaction wrote, or the initial value.
  [[nodiscard]] bool is_external(AccessId id) const {
    return !is_write(id) && source_[id] != kNowhere;
  }
  // What an external read returned: the last write of its writer to the key; kNoAccess: the initial
  // value. The writer of a list is the one whose append, of those that others made, it shows last.
  [[nodiscard]] AccessId source(AccessId read) const { return source_[read]; }
  [[nodiscard]] TxnId source_txn(AccessId read) const {
    return source_[read] == kNoAccess ? kInitialTxn : accesses_[source_[read]].txn;
  }
  // The last write to the key by the transaction of `write`.
  [[nodiscard]] AccessId last_write(AccessId write) const { return source_[write]; }
  [[nodiscard]] bool is_last(AccessId write) const { return source_[write] == write; }
  // The last write of `key` by `txn`; kNoAccess if it has none.
  [[nodiscard]] AccessId last_write(TxnId txn, KeyId key) const;
  // The write of `value` to `key`, one that did not abort if there is one; kNoAccess if there is
  // none.
  [[nodiscard]] AccessId write_of(KeyId key, Value value) const {
    const auto found = written_.find({key, value});
    return found == written_.end() ? kNoAccess : found->second;
  }
  // The last write of null to `key` of those that did not abort, and of those that did; kNoAccess
  // if there is none.
  [[nodiscard]] std::pair<AccessId, AccessId> null_writes(KeyId key) const {
    const auto found = null_writes_.find(key);
    if (found == null_writes_.end()) return {kNoAccess, kNoAccess};
    return {found->second.last, found->second.aborted};
  }
  // Whether a read of a counter may have returned what it did: the rows that it saw add up to that,
  // or may do so, where it is open whether it saw them. True for everything else.
  [[nodiscard]] bool may_add_up(const Op& op) const;
  // Whether it is a read of a counter, and so has an access for each increment of another one.
  [[nodiscard]] bool is_counter_read(const Op& op) const {
    return evidence_ == Evidence::Observed && counters_.is_read(op);
  }

  // How many elements of an external list read were appended by other transactions.
  [[nodiscard]] std::size_t others(AccessId list_read) const {
    const Value list = accesses_[list_read].value;
    return list.is_list() ? list.length() - own_shown_[list_read] : 0;
  }

  // Whether the transaction committed, or is unknown and was seen by one that counts, or is in a
  // version order.
  [[nodiscard]] bool counts(TxnId txn) const { return counts_[txn.index()]; }
  [[nodiscard]] std::size_t counted() const { return counted_; }

  // Whether a read is of a key that a scan did not find.
  [[nodiscard]] bool is_absence(AccessId id) const {
    if (is_untold(id)) return true;
    return !is_write(id) && h_->op(accesses_[id].op).kind == OpKind::Scan &&
           (accesses_[id].value.is_null() || unreturned_.contains(id));
  }
  // Whether others may write the key at levels that allow phantoms: a predicate read left it out. A
  // read of a set is a scan that leaves nothing out.
  [[nodiscard]] bool is_phantom(AccessId id) const {
    return is_absence(id) && !is_set_read(h_->op(accesses_[id].op));
  }
  [[nodiscard]] bool is_set_read(const Op& op) const {
    if (op.kind != OpKind::Scan) return false;
    const Value lower = h_->predicate_read(op.id).lower;
    return lower.kind() == ValueKind::Text && h_->string(lower).ends_with("∋");
  }

  // Whether a scan lists a version: a row, or a tombstone where scans list those.
  [[nodiscard]] bool is_listed(Value value, bool deleted) const {
    return !value.is_null() && (!deleted || tombstones_are_listed_);
  }
  // Whether a scan does not tell by itself which version it saw of the keys that it did not list.
  [[nodiscard]] bool has_untold_keys(const Op& scan) const {
    return scan.kind == OpKind::Scan && !h_->predicate_read(scan.id).has_version_set;
  }

  // Whether a read is of an untold key.
  [[nodiscard]] bool is_untold(AccessId id) const {
    return !untold_.empty() && untold_.contains(id);
  }

  [[nodiscard]] Evidence evidence() const { return evidence_; }
  // The version orders that the history states or, if it has none, its commit timestamps imply.
  [[nodiscard]] const std::vector<StatedOrder>& orders() const { return orders_; }

  [[nodiscard]] bool is_list(KeyId key) const { return is_list_[key.index()]; }
  // The append of each element of a non-empty list read; kNoAccess where there is none.
  [[nodiscard]] std::span<const AccessId> appends_of(Value list) const {
    return std::span(elements_).subspan(first_element(list), list.length());
  }

  // Flaws of transactions that count, except IncompatibleOrder (flaws.h). ResultSetMismatch is
  // only that of an untold key without candidates.
  [[nodiscard]] const std::vector<Flaw>& flaws() const { return flaws_; }

  // The same for reads of what was undone later; these have no access.
  [[nodiscard]] const std::vector<UndoneFlaw>& undone_flaws() const { return undone_flaws_; }

 private:
  Reading(const History& history, Evidence evidence, std::span<const ReadSource> sources,
          std::span<const ReadKey> untold, ScanKeys scan_keys)
      : h_(&history),
        counters_(history),
        repeated_elements_(history),
        evidence_(evidence),
        scan_keys_(scan_keys) {
    for (const ReadKey& each : untold) untold_keys_[each.read].push_back(each.key);
    for (const ReadSource& said : sources) {
      if (said.element == 0) {
        said_.insert({{said.read, said.key}, said.writer});
      } else {
        said_elements_.insert({{said.key, said.element - 1}, said.writer});
      }
    }
  }
  // The source of a read of an own write, of one that was not observed, and of one that is wrong.
  static constexpr AccessId kNowhere = 0xfffffffe;

  struct Own;
  void take_apart();
  void find_lists();
  void take_apart(TxnId txn, const Op& op, std::span<const KeyId> sorted_keys);
  void add_untold(TxnId txn, const Op& op, KeyId key);
  [[nodiscard]] std::vector<KeyId> written_before(const Op& op) const;
  [[nodiscard]] std::span<const KeyId> range_of(const PredicateRead& scan,
                                                std::span<const KeyId> sorted_keys) const;
  Status note_kinds();
  void note_writes();
  void note_write(AccessId id);
  void note_null_write(AccessId id);
  void note_repeated(AccessId before, AccessId id);
  void note_tombstone(AccessId id);
  void find_last_writes();
  void note_candidates();
  Status join_reads();
  // What a read may have returned: how many versions, one of them (kNoAccess: the initial one), and
  // writes that nobody but their own transaction may read.
  struct Possible {
    std::size_t count = 0;
    AccessId one = kNoAccess;
    AccessId intermediate = kNoAccess;
    AccessId own = kNoAccess;
    AccessId aborted = kNoAccess;
  };
  [[nodiscard]] Possible possible(AccessId read) const;
  [[nodiscard]] Possible impossible_absence(AccessId read) const;
  [[nodiscard]] bool is_row(AccessId read) const;
  AccessId source_of(AccessId read, const Possible& possible);
  bool take_said(AccessId read);
  void note_tombstones();
  [[nodiscard]] Value seen_value(AccessId read) const;
  void join_register(AccessId read);
  void join_open(AccessId read);
  void join_untold(AccessId read);
  void compare_untold(AccessId read);
  [[nodiscard]] bool is_open_access(AccessId id) const { return is_open_read(accesses_[id].kind); }
  AccessId joined(AccessId read, AccessId write);
  void join_list(AccessId read);
  bool own_appends_fit(AccessId read, const Own& own);
  AccessId list_source(AccessId read, std::size_t others);
  Status join_trunk(AccessId read);
  struct Trunk;
  void join_repeated(KeyId key, std::size_t position, std::size_t first, Trunk& trunk);
  [[nodiscard]] std::size_t first_element(Value list) const {
    return list.trunk() == 0 ? 0 : columns_of(*h_).trunk_end[list.trunk() - 1];
  }
  Status read_orders();
  Status read_order(const VersionOrder& stated);
  // What a stated order lists: the writes that it names, and how often each value without a name.
  struct Listed {
    absl::flat_hash_set<AccessId> named;
    absl::flat_hash_map<Value, std::size_t> values;
  };
  [[nodiscard]] Listed note_listed(const VersionOrder& stated) const;
  [[nodiscard]] AccessId only_write(const VersionOrder& stated, const Listed& listed,
                                    Value version) const;
  Status order_by_timestamps();
  void count_transactions();
  [[nodiscard]] TxnStatus status(AccessId id) const { return h_->status(accesses_[id].txn); }
  [[nodiscard]] Error error_at(AccessId id, std::string what) const;
  void flaw(AnomalyKind kind, AccessId read, AccessId other) {
    flaws_.push_back({kind, read, other, OpId{}});
  }
  // The same, where `other` is kNoAccess if the value was undone.
  void flaw_of_value(AnomalyKind kind, AccessId read, AccessId other, Value value) {
    const auto undone = undone_.find({accesses_[read].key, value});
    const bool found = other == kNoAccess && undone != undone_.end();
    flaws_.push_back({kind, read, other, found ? undone->second : OpId{}});
  }
  // Notes an operation that was undone, or read such a one.
  void note_undone(TxnId txn, const Op& op);

  const History* h_;
  CounterRows counters_;
  ListElements repeated_elements_;
  // The sources of open reads.
  absl::flat_hash_map<std::pair<OpId, KeyId>, TxnId> said_;
  // By key and position: who appended an open element.
  absl::flat_hash_map<std::pair<KeyId, std::size_t>, TxnId> said_elements_;
  // By key, if it has a compare-and-set that failed, a value that repeats, or is untold: the last
  // write of each transaction that did not abort.
  absl::flat_hash_map<KeyId, std::vector<AccessId>> writes_of_;
  Evidence evidence_;
  std::vector<Access> accesses_;
  std::vector<AccessId> txn_first_;
  std::vector<AccessId> op_first_;
  std::vector<bool> is_list_;
  absl::flat_hash_set<AccessId> unreturned_;  // Versions that only the version set of a scan lists.
  absl::flat_hash_set<AccessId> untold_;
  absl::flat_hash_map<OpId, std::vector<KeyId>> untold_keys_;
  // See write_of().
  absl::flat_hash_map<std::pair<KeyId, Value>, AccessId> written_;
  // By key and value, null included, if several transactions that did not abort wrote it: the last
  // such write of each.
  absl::flat_hash_map<std::pair<KeyId, Value>, std::vector<AccessId>> repeated_;
  std::vector<AccessId> source_;
  std::vector<std::uint32_t> own_shown_;  // By list read: how many own appends come before it.
  std::vector<bool> counts_;
  std::size_t counted_ = 0;
  // The first write of each value of a key that was undone.
  absl::flat_hash_map<std::pair<KeyId, Value>, OpId> undone_;
  // The undone appends that a trunk shows.
  absl::flat_hash_set<std::pair<std::uint32_t, OpId>> undone_shown_;
  std::vector<UndoneFlaw> undone_flaws_;
  std::vector<Flaw> flaws_;
  std::vector<StatedOrder> orders_;

  // What made a key absent: the last write of null, the last of those that aborted, and how many
  // transactions that did not abort wrote null.
  struct NullWrites {
    AccessId last = kNoAccess;
    AccessId aborted = kNoAccess;
    std::uint32_t writers = 0;
    // The last delete that left a tombstone, and how many transactions made one, if they did not
    // abort.
    AccessId tombstone = kNoAccess;
    std::uint32_t deleters = 0;
  };
  absl::flat_hash_map<KeyId, NullWrites> null_writes_;
  ScanKeys scan_keys_;
  // What deletes left by transactions that did not abort, but for null.
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones_;
  std::vector<bool> has_rows_;          // By key: whether scans list some version of it.
  bool tombstones_are_listed_ = false;  // Whether some scan lists the tombstone of a delete.

  // Reads of a list share trunks (history_builder.h), whose elements are joined once.
  struct Trunk {
    KeyId key;                           // Invalid: not joined.
    std::map<Value, std::size_t> shown;  // How often repeated elements came so far,
    std::map<std::pair<Value, TxnId>, std::size_t> shown_of;  // and those of one transaction.
    // The first position of an element that nobody appended, an aborted one, a repeated one.
    std::size_t unwritten = ~std::size_t{0};
    std::size_t aborted = ~std::size_t{0};
    std::size_t duplicate = ~std::size_t{0};
  };
  std::vector<Trunk> trunks_;
  // One per element, at the same index as HistoryColumns::elements: its append.
  std::vector<AccessId> elements_;
  std::vector<bool> open_elements_;  // At the same index: whether it is open who appended it.
  // The first position of an append in a trunk.
  absl::flat_hash_map<std::pair<std::uint32_t, AccessId>, std::size_t> position_;

  // What the transaction at hand did to a key.
  struct Own {
    std::vector<AccessId> all;       // Its writes.
    std::size_t done = 0;            // How many of them came before the access at hand.
    AccessId read = kNoAccess;       // The last read that was not wrong by itself.
    std::size_t done_at_read = 0;    // How many writes came before that read.
    std::size_t others_at_read = 0;  // How many elements of others that read showed.
    std::vector<AccessId> open;      // Open reads so far that have no source.
    AccessId missed = kNoAccess;     // A scan that did not list the key; nobody knows why.
    AccessId seen = kNoAccess;       // The last read that has a source, if there are untold keys.
  };
  absl::flat_hash_map<KeyId, Own> own_;
};

}  // namespace ouro::recheck
