// Judges predicate reads by what they tell themselves: their version sets, what their transactions
// wrote before, and the rows that they returned.

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "check/local/local.h"
#include "check/predicates/aggregate.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/undone.h"
#include "history/value_order.h"

namespace ouro {
namespace {

class ResultSets {
 public:
  explicit ResultSets(const Observed& observed)
      : h_(observed.history()),
        listed_(observed.rows().listed.get()),
        is_list_(listed_ == nullptr ? list_keys(h_) : listed_->lists()),
        own_(h_.key_count()) {
    for (std::size_t i = 0; i < h_.op_count(); ++i) {
      const Op op = h_.op(OpId{i});
      const bool deletes = info(op.kind).deletes || op.kind == OpKind::UndoneDelete;
      if (deletes) tombstones_.insert({op.key, op.value});
    }
  }

  // Adds what is wrong with the predicate reads of one transaction to `out`.
  void txn(TxnId txn, std::vector<PredicateFlaw>& out) {
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      const Op op = h_.op(id);
      if (writes_register(op.kind)) {
        note(op);
      } else if (is_predicate_read(op.kind) && h_.undone_part(id) != 0) {
        const std::vector<KeyId> kept_keys = own_keys_;
        const auto kept = note_undone(txn, id);
        read(op, out);
        for (const auto& [key, own] : kept) own_[key.index()] = own;
        own_keys_ = kept_keys;
      } else if (is_predicate_read(op.kind)) {
        read(op, out);
      }
    }
    forget();
  }

 private:
  void note(const Op& write) {
    if (!own_[write.key.index()].valid()) own_keys_.push_back(write.key);
    own_[write.key.index()] = write.id;
  }
  // Notes the own writes that a read sees and that were undone later. Returns what was noted of
  // their keys before, the last one first.
  std::vector<std::pair<KeyId, OpId>> note_undone(TxnId txn, OpId read) {
    std::vector<std::pair<KeyId, OpId>> before;
    for (OpId id = h_.first_op(txn); id < read; ++id.value) {
      const Op op = h_.op(id);
      if (!is_undone(op.kind) || !is_own_row(h_, op, read)) continue;
      before.emplace(before.begin(), op.key, own_[op.key.index()]);
      note(op);
    }
    return before;
  }
  void forget() {
    for (const KeyId key : own_keys_) own_[key.index()] = OpId{};
    own_keys_.clear();
  }

  void read(const Op& op, std::vector<PredicateFlaw>& out) const {
    const PredicateRead& read = h_.predicate_read(op.id);
    const bool left_out = listed_ != nullptr && may_leave_out_rows(h_, op.id);
    if (left_out && listed_->is_tidy(op.id)) return;
    if (!(read.has_version_set ? is_implied(op, read) : are_selected_once(op, read))) {
      out.push_back({AnomalyKind::ResultSetMismatch, op.id, {}, {}});
    }
    for (const KeyVersion& version : h_.version_set(read)) {
      const OpId own = own_[version.key.index()];
      if (!own.valid() || version.value.is_null() || version.value == h_.op(own).value) continue;
      if (!returned(read, version)) out.push_back({AnomalyKind::Internal, op.id, own, {}});
    }
  }

  // Whether `op` returned what the predicate selects from the version set, where own earlier writes
  // replace the versions of their keys.
  [[nodiscard]] bool is_implied(const Op& op, const PredicateRead& read) const {
    std::vector<KeyVersion> expected;
    const auto add = [&](const KeyVersion& version) {
      if (alive(version) && selects(op.kind, read, version)) expected.push_back(version);
    };
    for (const KeyVersion& version : h_.version_set(read)) {
      if (!own_[version.key.index()].valid()) add(version);
    }
    for (const KeyId key : own_keys_) {
      const Op own = h_.op(own_[key.index()]);
      if (leaves_own_row(own)) add({key, own.value});
    }
    if (op.kind == OpKind::Aggregate) {
      return read.result.is_unobserved() ||
             aggregate_fits(h_, read, expected, h_.text(read.result));
    }
    std::vector<KeyVersion> rows = rows_of(read);
    std::sort(expected.begin(), expected.end());
    std::sort(rows.begin(), rows.end());
    return expected == rows;
  }

  // Whether the predicate selects every returned row, and none was returned twice. Without a
  // version set no more can be said.
  [[nodiscard]] bool are_selected_once(const Op& op, const PredicateRead& read) const {
    std::vector<KeyId> keys;
    for (const KeyVersion& row : rows_of(read)) {
      if (!selects(op.kind, read, row)) return false;
      keys.push_back(row.key);
    }
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
  }

  // Those that are rows. A scan may list tombstones it met.
  [[nodiscard]] std::vector<KeyVersion> rows_of(const PredicateRead& read) const {
    std::vector<KeyVersion> rows;
    for (const KeyVersion& row : h_.rows(read)) {
      if (alive(row)) rows.push_back(row);
    }
    return rows;
  }

  // Whether the read returned the version. Then it is judged as a read of its key, elsewhere.
  [[nodiscard]] bool returned(const PredicateRead& read, const KeyVersion& version) const {
    const auto rows = h_.rows(read);
    return std::find(rows.begin(), rows.end(), version) != rows.end();
  }

  // Whether it is a row; lists and tombstones are none.
  [[nodiscard]] bool alive(const KeyVersion& version) const {
    return !is_list_[version.key.index()] && !version.value.is_null() &&
           !tombstones_.contains({version.key, version.value});
  }

  [[nodiscard]] bool selects(OpKind kind, const PredicateRead& read,
                             const KeyVersion& version) const {
    if (has_condition(kind)) {
      return evaluate(h_, read.predicate, version.key, version.value) == Truth::True;
    }
    const Value name = h_.key_name(version.key);
    return (read.lower.is_null() || compare_values(h_, read.lower, name) <= 0) &&
           (read.upper.is_null() || compare_values(h_, name, read.upper) <= 0);
  }

  const History& h_;
  const ListedRows* listed_;  // Null: all rows are reads.
  // What deletes wrote, by key.
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones_;
  std::vector<bool> is_list_;    // By key.
  std::vector<OpId> own_;        // By key: the last write so far of the transaction at hand.
  std::vector<KeyId> own_keys_;  // The keys that have a write in own_.
};

// Reads that do not return what their own part of the transaction wrote before it was undone.
std::vector<PredicateFlaw> wrong_read_backs(const Observed& observed) {
  const History& h = observed.history();
  std::vector<PredicateFlaw> flaws;
  if (columns_of(h).op_part.empty()) return flaws;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (!observed.counted(TxnId{t})) continue;
    for (OpId id = h.first_op(TxnId{t}); id < h.end_op(TxnId{t}); ++id.value) {
      const OpId write = contradicted_undone_write(h, TxnId{t}, id);
      if (write.valid()) flaws.push_back({AnomalyKind::Internal, id, write, {}});
    }
  }
  return flaws;
}

}  // namespace

std::vector<PredicateFlaw> plain_predicate_flaws(const Observed& observed) {
  const History& h = observed.history();
  std::vector<PredicateFlaw> flaws = wrong_read_backs(observed);
  if (!h.has_predicate_reads()) return flaws;
  ResultSets sets(observed);
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (observed.counted(TxnId{t})) sets.txn(TxnId{t}, flaws);
  }
  return flaws;
}

}  // namespace ouro
