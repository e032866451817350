#include "check/observed/items.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "history/columns.h"
#include "history/commuting.h"
#include "history/sorted_keys.h"
#include "history/undone.h"

namespace ouro {
// The rows of counters: one for each transaction that increments one, and one for what the counter
// was at the start.
class Items::Counters {
 public:
  Counters(const History& history, Items& items) : h_(history), items_(items), units_(history) {
    for (const KeyVersion& entry : columns_of(h_).key_initial) {
      if (const auto row = counter_row(h_, entry.value)) {
        counters_[row->counter].initial += units_.of(row->delta);
      }
    }
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId{t}) == TxnStatus::Aborted) continue;
      for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) add(TxnId{t}, id);
    }
  }

  // About how many items all reads of counters take.
  [[nodiscard]] std::size_t count() const {
    std::size_t out = 0;
    for (std::size_t i = 0; i < h_.op_count() && !counters_.empty(); ++i) {
      const OpKind kind = h_.op(OpId{i}).kind;
      if (!is_predicate_read(kind)) continue;
      const auto found = counters_.find(counter_read(h_, kind, h_.predicate_read(OpId{i})));
      if (found != counters_.end()) out += found->second.rows.size();
    }
    return out;
  }

  // Adds the items of a read of a counter.
  void read(TxnId txn, OpId op, Value counter, Value result) {
    if (!is_exact_number(result.kind()) || h_.status(txn) == TxnStatus::Aborted) return;
    const Counter& all = counters_[counter];
    CounterSum sum{.op = op,
                   .txn = txn,
                   .counter = counter,
                   .first = ItemId{items_.own_kind_.size()},
                   .end = {},
                   .target = WideInt{units_.of(result)} - all.initial};
    const std::int64_t own = own_delta(txn, op, counter);
    for (const Row& row : all.rows) {
      if (row.txn == txn || !row.is_last) continue;
      items_.own_kind_.push_back(OpKind::CasFailed);
      items_.own_key_.push_back(row.key);
      items_.own_value_.push_back(result);  // No row is an integer, so each may have been seen.
      items_.own_op_.push_back(op);
    }
    sum.target -= own;
    sum.end = ItemId{items_.own_kind_.size()};
    items_.sums_.push_back(sum);
  }

 private:
  struct Row {
    KeyId key;
    TxnId txn;
    OpId op;
    std::int64_t delta = 0;
    bool is_last = true;  // Whether its transaction adds no more to it.
  };
  struct Counter {
    WideInt initial = 0;
    std::vector<Row> rows;
  };

  // What the transaction itself has added to the counter when it reads it.
  [[nodiscard]] std::int64_t own_delta(TxnId txn, OpId read, Value counter) const {
    for (OpId id = read; id > h_.first_op(txn);) {
      const Op op = h_.op(OpId{--id.value});
      if (op.value.kind() != ValueKind::Row || !is_own_write(h_, op, read)) continue;
      const auto row = counter_row(h_, op.value);
      if (row && row->counter == counter) return units_.of(row->delta);
    }
    return 0;
  }

  void add(TxnId txn, OpId id) {
    const Op op = h_.op(id);
    if (!ouro::is_write(op.kind) || op.value.kind() != ValueKind::Row) return;
    const auto row = counter_row(h_, op.value);
    if (!row) return;
    if (items_.delta_.empty()) {
      items_.delta_.assign(h_.key_count(), 0);
      items_.row_writer_.assign(h_.key_count(), TxnId{});
    }
    const std::int64_t delta = units_.of(row->delta);
    items_.row_writer_[op.key.index()] = txn;
    items_.delta_[op.key.index()] = delta;
    auto& rows = counters_[row->counter].rows;
    auto& shares = items_.shares_;
    if (!rows.empty() && rows.back().key == op.key) {
      rows.back().is_last = false;
      const auto known = std::find_if(shares.rbegin(), shares.rend(),
                                      [&](const CounterShare& s) { return s.row == op.key; });
      known->delta = delta;
    } else {
      shares.push_back({row->counter, txn, op.key, delta});
    }
    rows.push_back({op.key, txn, id, delta});
  }

  const History& h_;
  Items& items_;
  const CounterUnits units_;
  absl::flat_hash_map<Value, Counter> counters_;
};

Items::Items(const History& history, const Budget& budget, Evidence evidence,
             std::span<const ReadKey> untold, const RowChoice& rows) {
  const HistoryColumns& c = columns_of(history);
  op_kind_ = c.op_kind;
  kind_ = c.op_kind;
  key_ = c.op_key;
  value_ = c.op_value;
  first_ = c.txn_first_op;
  if (!c.predicate_reads.empty()) flatten(history, budget, evidence, untold, rows);
}

// The next item is a key that a predicate read does not tell of.
void Items::note_untold() {
  untold_.resize(own_kind_.size() + 1);
  untold_.back() = true;
}

void Items::add(OpKind kind, KeyId key, Value value, OpId op) {
  own_kind_.push_back(kind);
  own_key_.push_back(key);
  own_value_.push_back(value);
  own_op_.push_back(op);
}

// Adds the keys that scans did not return.
class Items::Absent {
 public:
  Absent(const History& history, Items& items, const RowChoice& rows)
      : h_(history),
        items_(items),
        keys_(history),
        lists_(rows.all() ? list_keys(history) : rows.listed->lists()),
        returned_(history.key_count(), false),
        listed_(history.key_count(), Value::null()) {}

  // Those that the transaction wrote before.
  void add_own(OpId scan) {
    for (const KeyId key : own_absences(h_, keys_, scan)) {
      if (!lists_[key.index()]) items_.add(OpKind::Read, key, Value::null(), scan);
    }
  }
  // All in the range, with what the version set says of them. Without a version set, it is not told
  // what the scan saw of those that its transaction did not write before.
  void add_all(OpId scan) {
    const PredicateRead& read = h_.predicate_read(scan);
    const auto rows = h_.rows(read);
    const auto set = h_.version_set(read);
    const bool told = read.has_version_set;
    for (const KeyVersion& version : set) listed_[version.key.index()] = version.value;
    for (const KeyVersion& row : rows) {
      returned_[row.key.index()] = told || !row.value.is_null();
    }
    if (!told) {
      add_own(scan);
      for (const KeyId key : own_absences(h_, keys_, scan)) returned_[key.index()] = true;
    }
    for (const KeyId key : keys_.between(read.lower, read.upper)) {
      if (returned_[key.index()] || lists_[key.index()]) continue;
      if (!told) items_.note_untold();
      const Value seen = listed_[key.index()];
      if (!seen.is_null()) items_.unreturned_.insert(ItemId{items_.own_kind_.size()});
      items_.add(OpKind::Read, key, seen, scan);
    }
    for (const KeyVersion& row : rows) returned_[row.key.index()] = false;
    for (const KeyVersion& version : set) listed_[version.key.index()] = Value::null();
    if (told) return;
    for (const KeyId key : own_absences(h_, keys_, scan)) returned_[key.index()] = false;
  }

 private:
  const History& h_;
  Items& items_;
  const SortedKeys keys_;
  const std::vector<bool> lists_;  // By key, as the others.
  std::vector<bool> returned_;     // By the scan at hand.
  std::vector<Value> listed_;      // By its version set.
};

// Adds the rows that predicate reads returned, or, of those that may be left out, the chosen ones.
class Items::Chosen {
 public:
  Chosen(const History& history, Items& items, const RowChoice& rows)
      : h_(history), items_(items), all_(rows.all()), left_(rows.chosen) {}

  // REQUIRES: operations come in ascending order. `untelling`: it has no version set, and null is
  // no row. `lazy`: the rows may be left out.
  void add(OpId id, bool untelling, bool lazy) {
    const auto rows = h_.rows(h_.predicate_read(id));
    if (all_ || !lazy) {
      for (const KeyVersion& row : rows) {
        if (!untelling || !row.value.is_null()) items_.add(OpKind::Read, row.key, row.value, id);
      }
      return;
    }
    for (; !left_.empty() && left_.front().scan == id; left_ = left_.subspan(1)) {
      const KeyVersion& row = rows[left_.front().row];
      items_.add(OpKind::Read, row.key, row.value, id);
    }
  }

 private:
  const History& h_;
  Items& items_;
  const bool all_;
  std::span<const ScanRow> left_;
};

void Items::flatten(const History& history, const Budget& budget, Evidence evidence,
                    std::span<const ReadKey> untold, const RowChoice& rows) {
  // Greater numbers are codes (Observed::kInitial).
  constexpr std::size_t kMost = 0xfffffff0;
  constexpr std::size_t kMostSummed = 20'000'000;
  Counters sums(history, *this);
  const bool observed = evidence == Evidence::Observed;
  left_out_sums_ = observed && sums.count() > kMostSummed;
  Absent absent(history, *this, rows);
  Chosen chosen(history, *this, rows);
  // Operations between looks at the budget: a scan may become many items.
  BudgetTicker ticker(budget, 64);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    own_first_.push_back(static_cast<std::uint32_t>(own_kind_.size()));
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      too_many_ |= own_kind_.size() + 2 * history.key_count() > kMost;
      if (ticker.tick() || too_many_) break;
      const Op op = history.op(id);
      if (!is_predicate_read(op.kind)) {
        add(op.kind, op.key, op.value, id);
        continue;
      }
      const PredicateRead& read = history.predicate_read(id);
      const Value counter = counter_read(history, op.kind, read);
      if (!counter.is_null() && observed && !left_out_sums_) {
        sums.read(TxnId{t}, id, counter, read.result);
      }
      const bool untelling = op.kind == OpKind::Scan && !read.has_version_set;
      chosen.add(id, untelling, observed && may_leave_out_rows(history, id));
      for (; !untold.empty() && untold.front().read == id; untold = untold.subspan(1)) {
        note_untold();
        add(OpKind::Read, untold.front().key, Value::null(), id);
      }
      if (op.kind != OpKind::Scan) continue;
      if (untelling && observed) {
        absent.add_own(id);
      } else {
        absent.add_all(id);
      }
    }
  }
  own_first_.push_back(static_cast<std::uint32_t>(own_kind_.size()));
  if (!untold_.empty()) untold_.resize(own_kind_.size());
  kind_ = own_kind_;
  key_ = own_key_;
  value_ = own_value_;
  op_ = own_op_;
  first_ = own_first_;
}

std::vector<KeyId> own_absences(const History& history, const SortedKeys& keys, OpId scan) {
  const PredicateRead& read = history.predicate_read(scan);
  std::vector<KeyId> out;
  for (OpId id = history.first_op(history.txn_of(scan)); id < scan; ++id.value) {
    const Op op = history.op(id);
    if (is_own_row(history, op, scan) && keys.is_between(op.key, read.lower, read.upper)) {
      out.push_back(op.key);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.empty()) return out;
  absl::flat_hash_set<KeyId> returned;
  for (const KeyVersion& row : history.rows(read)) {
    if (!row.value.is_null()) returned.insert(row.key);
  }
  std::erase_if(out, [&](KeyId key) { return returned.contains(key); });
  return out;
}

bool scans_list_tombstones(const History& history) {
  if (!history.has_predicate_reads()) return false;
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (info(op.kind).deletes && !op.value.is_null()) tombstones.insert({op.key, op.value});
  }
  // By key: the last value that was looked up. Scans mostly return the same again.
  std::vector<Value> known(tombstones.empty() ? 0 : history.key_count());
  for (std::size_t i = 0; i < history.op_count() && !tombstones.empty(); ++i) {
    if (history.op(OpId{i}).kind != OpKind::Scan) continue;
    for (const KeyVersion& row : history.rows(history.predicate_read(OpId{i}))) {
      if (known[row.key.index()] == row.value) continue;
      if (tombstones.contains({row.key, row.value})) return true;
      known[row.key.index()] = row.value;
    }
  }
  return false;
}

}  // namespace ouro
