#include "check/observed/listed_rows.h"

#include <algorithm>
#include <iterator>

#include "base/parallel.h"
#include "check/observed/likely_order.h"
#include "history/access.h"

namespace ouro {

bool may_leave_out_rows(const History& history, OpId id) {
  return history.op(id).kind == OpKind::Scan && !history.predicate_read(id).has_version_set;
}

namespace {

// How many rows may be left out.
std::uint64_t count_scan_rows(const History& history) {
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < history.op_count() && history.has_predicate_reads(); ++i) {
    if (may_leave_out_rows(history, OpId{i})) rows += history.predicate_read(OpId{i}).row_count;
  }
  return rows;
}

}  // namespace

RowChoice first_rows(const History& history, unsigned threads, const Budget& budget) {
  constexpr std::uint64_t kRowsPerOp = 4;  // Fewer are joined in no time.
  if (count_scan_rows(history) <= kRowsPerOp * history.op_count()) return {};
  RowChoice out{std::make_shared<ListedRows>(history, threads, budget), {}};
  out.chosen.assign(out.listed->first().begin(), out.listed->first().end());
  return out;
}

// ---- versions ----

// Enters a write. REQUIRES: later operations of the same transaction are entered before.
void ListedRows::add_write(TxnId txn, const Op& op) {
  const auto number = static_cast<std::uint32_t>(versions_.size());
  const auto [at, added] = number_.try_emplace({op.key, op.value}, number);
  if (!added) {
    versions_[at->second].plain = false;
    return;
  }
  const bool plain = ouro::is_write(op.kind) && h_.status(txn) == TxnStatus::Committed &&
                     op.value != h_.initial(op.key);
  versions_.push_back({txn, kNever, kNever, plain});
}

void ListedRows::find_versions(const Budget& budget) {
  for (std::size_t k = 0; k < h_.key_count(); ++k) versions_.push_back({kInitialTxn, 0, kNever});
  std::vector<TxnId> last_writer(h_.key_count());
  static_cast<void>(for_each_within(budget, 0, h_.txn_count(), [&](std::size_t t) {
    for (OpId id = h_.end_op(TxnId{t}); id > h_.first_op(TxnId{t});) {
      const Op op = h_.op(OpId{--id.value});
      if (!ouro::is_write(op.kind) && !is_undone(op.kind)) continue;
      if (!op.value.is_null()) add_write(TxnId{t}, op);
      if (!ouro::is_write(op.kind)) continue;
      TxnId& last = last_writer[op.key.index()];
      // The transaction writes the key again later.
      if (std::exchange(last, TxnId{t}) == TxnId{t} && !op.value.is_null()) {
        versions_[number_.find({op.key, op.value})->second].plain = false;
      }
    }
  }));
}

// Says of each version when it was written and overwritten, in the likely order of commits.
void ListedRows::order_versions(const Budget& budget) {
  const std::vector<Node> order = likely_commit_order(h_, budget);
  constexpr std::uint32_t kAbsent = kNever;
  std::vector<std::uint32_t> latest(h_.key_count());  // The number of the version.
  for (std::size_t k = 0; k < latest.size(); ++k) latest[k] = static_cast<std::uint32_t>(k);
  std::uint32_t place = 0;
  for (const Node node : order) {
    const TxnId txn{node};
    ++place;
    if (h_.status(txn) != TxnStatus::Committed) continue;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (!writes_register(op.kind)) continue;
      std::uint32_t& last = latest[op.key.index()];
      if (last != kAbsent && versions_[last].writer != txn) versions_[last].overwritten = place;
      last = kAbsent;
      if (op.value.is_null()) continue;
      last = number_.find({op.key, op.value})->second;
      versions_[last].written = place;
    }
  }
}

TxnId ListedRows::writer(KeyId key, Value value) const {
  const auto found = number_.find({key, value});
  return found == number_.end() ? kInitialTxn : versions_[found->second].writer;
}

// ---- rows ----

// Looks at the rows of some transactions, one after the other.
class ListedRows::Pass {
 public:
  explicit Pass(const ListedRows& listed)
      : l_(listed), h_(listed.h_), keys_(h_.key_count()) {
    const auto all = l_.keys_.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
      keys_[all[i].index()].rank = static_cast<std::uint32_t>(i);
    }
  }

  void txn(TxnId txn) {
    if (h_.status(txn) == TxnStatus::Aborted) return;
    bool scans = false;
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (may_leave_out_rows(h_, id)) {
        scans = true;
        continue;
      }
      const Op op = h_.op(id);
      if (op.key.valid()) keys_[op.key.index()].touched = txn;
      if (!is_predicate_read(op.kind)) continue;
      for (const KeyVersion& row : h_.rows(h_.predicate_read(id))) {
        keys_[row.key.index()].touched = txn;
      }
    }
    if (!scans) return;
    newest_ = {};
    oldest_ = {.row = {}, .place = kNever};
    const std::size_t needed_before = needed.size();
    const std::size_t untidy_before = untidy.size();
    differs_ = false;
    scan_all(txn);
    if (differs_) {
      // Now all rows of the keys that are touched are reads.
      needed.resize(needed_before);
      untidy.resize(untidy_before);
      scan_all(txn);
    }
    if (newest_.row.scan.valid()) first.push_back(newest_.row);
    if (oldest_.row.scan.valid()) first.push_back(oldest_.row);
  }

  std::vector<ScanRow> needed;
  std::vector<ScanRow> first;
  std::vector<OpId> untidy;

 private:
  // The last plain value that was met, and who met the key.
  struct Key {
    Value value;
    std::uint32_t written = 0;  // Both as in Version.
    std::uint32_t overwritten = 0;
    TxnId touched;  // The last transaction that did something else with the key.
    TxnId seen;     // The last transaction that a scan returned `value` to.
    std::uint32_t rank = 0;  // Its place in the order of keys.
  };
  struct Bound {
    ScanRow row;
    std::uint32_t place = 0;
  };

  void scan_all(TxnId txn) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (may_leave_out_rows(h_, id)) scan(txn, id);
    }
  }

  void scan(TxnId txn, OpId id) {
    const PredicateRead& read = h_.predicate_read(id);
    const auto rows = h_.rows(read);
    const auto range = l_.keys_.between(read.lower, read.upper);
    std::size_t next = static_cast<std::size_t>(range.data() - l_.keys_.all().data());
    const std::size_t end = next + range.size();
    bool tidy = true;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const auto& [row_key, value] = rows[i];
      Key& key = keys_[row_key.index()];
      tidy &= key.rank >= next;
      next = key.rank + std::size_t{1};
      if (value.is_null()) continue;
      const bool same = key.value == value;
      if (same && key.seen == txn && key.touched != txn) continue;
      const bool known = key.touched != txn && (same || look_up(row_key, value, txn));
      if (!known) {
        need(txn, {id, i}, row_key);
        continue;
      }
      key.seen = txn;
      if (key.written > newest_.place) newest_ = {{id, i}, key.written};
      if (key.overwritten < oldest_.place) {
        oldest_ = {{id, i}, key.overwritten};
      }
    }
    if (!tidy || next > end) untidy.push_back(id);
  }

  // Fills in what is known of a value that was not met last. False: it is not plain, or the
  // transaction met another one.
  bool look_up(KeyId id, Value value, TxnId txn) {
    Key& key = keys_[id.index()];
    if (key.seen == txn || l_.lists_[id.index()]) return false;
    const auto found = l_.number_.find({id, value});
    const bool initial = found == l_.number_.end();
    if (initial && value != h_.initial(id)) return false;
    const Version& version = l_.versions_[initial ? id.index() : found->second];
    if (!version.plain) return false;
    key.value = value;
    key.written = version.written;
    key.overwritten = version.overwritten;
    return true;
  }

  // Makes a row a read, and what later scans of the transaction return of the key.
  void need(TxnId txn, ScanRow row, KeyId id) {
    needed.push_back(row);
    Key& key = keys_[id.index()];
    if (key.touched == txn) return;
    differs_ |= key.seen == txn;
    key.touched = txn;
  }

  const ListedRows& l_;
  const History& h_;
  std::vector<Key> keys_;
  // Of the transaction at hand: the rows that first() has, and whether an earlier scan returned
  // something else of a key, and was taken for plain.
  Bound newest_;
  Bound oldest_;
  bool differs_ = false;
};

namespace {

void sort_rows(std::vector<ScanRow>& rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

}  // namespace

ListedRows::ListedRows(const History& history, unsigned threads, const Budget& budget)
    : h_(history), keys_(history), lists_(list_keys(history)) {
  find_versions(budget);
  order_versions(budget);
  const std::uint64_t rows = count_scan_rows(history);
  budget.charge(rows + history.op_count());
  const std::size_t parts = rows < 100'000 ? 1 : thread_count(threads);
  std::vector<Pass> passes(parts, Pass(*this));
  for_each_part(parts, [&](std::size_t part) {
    BudgetTicker ticker(budget, 64);
    const std::size_t end = h_.txn_count() * (part + 1) / parts;
    for (std::size_t t = h_.txn_count() * part / parts; t < end && !ticker.tick(); ++t) {
      passes[part].txn(TxnId{t});
    }
  });
  for (Pass& pass : passes) {
    needed_.insert(needed_.end(), pass.needed.begin(), pass.needed.end());
    first_.insert(first_.end(), pass.first.begin(), pass.first.end());
    untidy_.insert(untidy_.end(), pass.untidy.begin(), pass.untidy.end());
  }
  sort_rows(needed_);
  first_.insert(first_.end(), needed_.begin(), needed_.end());
  sort_rows(first_);
}

}  // namespace ouro
