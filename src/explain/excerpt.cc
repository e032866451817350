// A part shares the texts, rows and predicates of the whole history, so values have the same ids in
// both; only operations, transactions, keys and the lists that were read are written anew.

#include "explain/excerpt.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "check/observed/items.h"
#include "history/access.h"
#include "history/columns.h"
#include "history/commuting.h"
#include "history/undone.h"
#include "history/value_order.h"
#include "ouro/explain.h"

namespace ouro {
namespace {

// What the columns of a part point into.
struct Storage : AllColumns<ColumnVector> {
  History whole;
};

// Appends the entry of `txn` in a column that may be missing.
template <class T>
void take(std::vector<T>& out, std::span<const T> column, TxnId txn) {
  if (!column.empty()) out.push_back(column[txn.index()]);
}

}  // namespace

Excerpter::Excerpter(const History& history, Evidence evidence, std::vector<bool> keys)
    : h_(history), evidence_(evidence), keys_(std::move(keys)) {
  absl::flat_hash_map<KeyId, OpId> last;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const bool aborted = h_.status(TxnId{t}) == TxnStatus::Aborted;
    last.clear();
    for (OpId id = h_.end_op(TxnId{t}); id > h_.first_op(TxnId{t});) {
      --id.value;
      const Op op = h_.op(id);
      if (is_undone(op.kind) && knows(op.key)) note(id, true);
      if (!is_write(op.kind) || !knows(op.key)) continue;
      note(id, aborted);
      if (evidence_ != Evidence::Versions) continue;
      const auto [at, added] = last.try_emplace(op.key, id);
      if (!added) overwritten_.emplace(id, at->second);
    }
  }
  find_last_writes();
  if (!h_.has_predicate_reads()) return;
  const std::vector<bool> lists = list_keys(h_);
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    const bool row = !lists[k] && !h_.initial(KeyId{k}).is_null();
    if (knows(KeyId{k}) && row) initial_rows_.emplace_back(k);
  }
  sort_by_name(initial_rows_);
  if (evidence_ == Evidence::Observed) {
    find_deleted_rows();
  } else if (!scans_list_tombstones(h_)) {
    find_unclear_rows();
  }
  if (evidence_ == Evidence::Observed) find_counter_rows();
  if (evidence_ == Evidence::Timestamps) return;
  grounds_ = std::make_unique<RowGrounds>(h_, evidence_);
  for (std::size_t i = 0; i < h_.op_count(); ++i) {
    const Op op = h_.op(OpId{i});
    if (!is_write(op.kind) || h_.status(h_.txn_of(op.id)) == TxnStatus::Aborted) continue;
    writes_of_[op.key].push_back(op.id);
  }
}

std::span<const OpId> Excerpter::writes_of(KeyId key) const {
  const auto found = writes_of_.find(key);
  return found == writes_of_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::find_counter_rows() {
  for (const KeyVersion& entry : columns_of(h_).key_initial) {
    if (const auto row = counter_row(h_, entry.value)) {
      counter_rows_[row->counter].initial.push_back(entry.key);
    }
  }
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(TxnId{t}) == TxnStatus::Aborted) continue;
    for (OpId id = h_.first_op(TxnId{t}); id < h_.end_op(TxnId{t}); ++id.value) {
      const Op op = h_.op(id);
      if (!is_write(op.kind)) continue;
      if (const auto row = counter_row(h_, op.value)) {
        counter_rows_[row->counter].writes.push_back(id);
      }
    }
  }
}

const Excerpter::CounterRows* Excerpter::counter_rows(const Op& read) const {
  if (evidence_ != Evidence::Observed || !is_predicate_read(read.kind)) return nullptr;
  const Value counter = counter_read(h_, read.kind, h_.predicate_read(read.id));
  const auto found = counter_rows_.find(counter);
  return counter.is_null() || found == counter_rows_.end() ? nullptr : &found->second;
}

void Excerpter::find_last_writes() {
  const auto kinds = columns_of(h_).op_kind;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (is_open_read(kinds[i])) last_writes_.try_emplace(h_.op(OpId{i}).key);
  }
  if (last_writes_.empty()) return;
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn{t};
    if (h_.status(txn) == TxnStatus::Aborted) continue;
    for (OpId id = h_.end_op(txn); id > h_.first_op(txn);) {
      const Op op = h_.op(OpId{--id.value});
      const auto at = is_write(op.kind) ? last_writes_.find(op.key) : last_writes_.end();
      if (at == last_writes_.end()) continue;
      const bool later = !at->second.empty() && at->second.back() >= h_.first_op(txn);
      if (!later) at->second.push_back(id);
    }
  }
}

std::span<const OpId> Excerpter::last_writes(KeyId key) const {
  const auto found = last_writes_.find(key);
  return found == last_writes_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::sort_by_name(std::vector<KeyId>& keys) const {
  std::sort(keys.begin(), keys.end(), [&](KeyId a, KeyId b) {
    return compare_values(h_, h_.key_name(a), h_.key_name(b)) < 0;
  });
}

// A key with an initial value that was deleted only once is clear: it is absent only after that.
void Excerpter::find_unclear_rows() {
  for (const auto& [key, deletes] : deletes_) {
    const auto tombstones = static_cast<std::size_t>(std::count_if(
        deletes.begin(), deletes.end(), [&](OpId op) { return !h_.op(op).value.is_null(); }));
    const bool once = tombstones == 1 && deletes.size() == 1 && !h_.initial(key).is_null();
    if (tombstones > 0 && !once) unclear_rows_.push_back(key);
  }
  sort_by_name(unclear_rows_);
}

void Excerpter::find_deleted_rows() {
  for (const auto& [key, deletes] : deletes_) deleted_rows_.push_back(key);
  sort_by_name(deleted_rows_);
}

std::span<const OpId> Excerpter::deletes(KeyId key) const {
  const auto found = deletes_.find(key);
  return found == deletes_.end() ? std::span<const OpId>() : std::span(found->second);
}

void Excerpter::note(OpId write, bool aborted) {
  const Op op = h_.op(write);
  const bool deletes = info(op.kind).deletes || op.value.is_null();
  if (deletes && !aborted) deletes_[op.key].push_back(write);
  Writes& writes = writes_[{op.key, op.value}];
  (aborted ? writes.aborted : writes.alive).push_back(write);
}

OpId Excerpter::installed(OpId write) const {
  const auto found = overwritten_.find(write);
  return found == overwritten_.end() ? write : found->second;
}

const std::vector<RowGrounds::Row>* Excerpter::grounds(OpId read) const {
  return grounds_ == nullptr ? nullptr : grounds_->of(read);
}

std::span<const KeyId> Excerpter::within(std::span<const KeyId> keys, Value lower,
                                         Value upper) const {
  const auto first = std::partition_point(keys.begin(), keys.end(), [&](KeyId key) {
    return !lower.is_null() && compare_values(h_, h_.key_name(key), lower) < 0;
  });
  const auto end = std::partition_point(first, keys.end(), [&](KeyId key) {
    return upper.is_null() || compare_values(h_, h_.key_name(key), upper) <= 0;
  });
  return {first, end};
}

std::span<const OpId> Excerpter::sources(KeyId key, Value value) const {
  const auto found = writes_.find({key, value});
  if (found == writes_.end()) return {};
  if (!found->second.alive.empty()) return found->second.alive;
  if (value == h_.initial(key)) return {};
  return found->second.aborted;
}

namespace {

std::vector<TxnId> all_txns(const History& history) {
  std::vector<TxnId> all(history.txn_count());
  for (std::size_t t = 0; t < all.size(); ++t) all[t] = TxnId{t};
  return all;
}

}  // namespace

// Makes one part.
class ExcerptMaker {
 public:
  ExcerptMaker(const Excerpter& excerpter, const std::vector<bool>& kept)
      : e_(excerpter), h_(excerpter.history()), kept_(kept) {
    s_->whole = h_;
    const auto parts = columns_of(h_).outer_part;
    s_->outer_part.assign(parts.begin(), parts.end());
  }

  // Adds a key that `writer` writes, and of which `reader` reads the initial value.
  void set_apart(TxnId reader, TxnId writer) {
    reader_ = reader;
    writer_ = writer;
    apart_ = new_key();
  }

  // Adds a transaction that sees that `earlier` wrote before `later`.
  void set_order(TxnId earlier, TxnId later) {
    earlier_ = earlier;
    later_ = later;
    seen_ = new_key();
    apart_ = new_key();
  }

  Excerpt make(std::span<const TxnId> txns) {
    for (const TxnId txn : txns) add_txn(txn);
    if (earlier_.valid()) add_observer();
    s_->txn_first_op.push_back(static_cast<std::uint32_t>(s_->op_kind.size()));
    gather_sessions();
    add_initial_values();
    add_version_orders();
    for (const auto& trunk : trunks_) {
      s_->elements.insert(s_->elements.end(), trunk.begin(), trunk.end());
      s_->trunk_end.push_back(s_->elements.size());
    }
    out_.txns.assign(txns.begin(), txns.end());
    if (earlier_.valid()) out_.txns.emplace_back();
    out_.history = history_of(columns(), s_);
    return std::move(out_);
  }

 private:
  void add_txn(TxnId txn) {
    const HistoryColumns& c = columns_of(h_);
    s_->txn_first_op.push_back(static_cast<std::uint32_t>(s_->op_kind.size()));
    const auto [session, added] = sessions_.try_emplace(h_.session(txn), s_->session_name.size());
    if (added) s_->session_name.push_back(h_.session_name(h_.session(txn)));
    s_->txn_session.push_back(session->second);
    s_->txn_status.push_back(h_.status(txn));
    TxnColumns<ColumnSpan>::each_optional(
        [&](const auto&, auto& out, const auto& column) { take(out, column, txn); }, *s_, c);
    take(s_->txn_position, c.txn_position, txn);
    take(s_->txn_file, c.txn_file, txn);
    if (txn == reader_) add_apart(OpKind::Read, apart_, h_.default_initial());
    const std::size_t first = s_->op_kind.size();
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (kept_[id.index()]) add_op(txn, h_.op(id));
    }
    part_halves(first);
    if (txn == writer_) add_apart(OpKind::Write, apart_, other_than_initial(1));
    if (txn == earlier_) add_apart(OpKind::Write, seen_, other_than_initial(1));
    if (txn == earlier_) add_apart(OpKind::Write, apart_, other_than_initial(1));
    if (txn == later_) add_apart(OpKind::Write, apart_, other_than_initial(3));
  }

  // The transaction of set_order(), in a session of its own. Nobody reads from it.
  void add_observer() {
    const HistoryColumns& c = columns_of(h_);
    s_->txn_first_op.push_back(static_cast<std::uint32_t>(s_->op_kind.size()));
    s_->txn_session.emplace_back(s_->session_name.size());
    s_->session_name.push_back(Value::small(0));
    s_->txn_status.push_back(TxnStatus::Committed);
    TxnColumns<ColumnSpan>::each_optional(
        [](const auto& missing, auto& out, const auto& column) {
          if (!column.empty()) out.push_back(missing);
        },
        *s_, c);
    if (!c.txn_position.empty()) s_->txn_position.push_back(0);
    if (!c.txn_file.empty()) s_->txn_file.push_back(0);
    add_apart(OpKind::Read, seen_, other_than_initial(1));
    add_apart(OpKind::Read, apart_, other_than_initial(3));
  }

  KeyId new_key() {
    s_->key_name.push_back(Value::small(0));
    out_.keys.emplace_back();
    return KeyId{s_->key_name.size() - 1};
  }

  // Adds an operation that the whole history does not have.
  void add_apart(OpKind kind, KeyId key, Value value) {
    s_->op_kind.push_back(kind);
    s_->op_key.push_back(key);
    s_->op_value.push_back(value);
    if (!columns_of(h_).op_line.empty()) s_->op_line.push_back(0);
    if (!columns_of(h_).op_part.empty()) s_->op_part.push_back(0);
    out_.ops.emplace_back();
  }

  // `number`, or the next one if `number` is the initial value.
  [[nodiscard]] Value other_than_initial(std::int64_t number) const {
    const Value value = Value::small(number);
    return h_.default_initial() == value ? Value::small(number + 1) : value;
  }

  void add_op(TxnId txn, const Op& op) {
    if (is_predicate_read(op.kind)) {
      if (const auto number = predicate_read(op)) {
        push(op, KeyId{}, Value::small(static_cast<std::int64_t>(*number)));
      }
      return;
    }
    if (!e_.knows(op.key)) return;
    if (is_open_read(op.kind)) {
      const Op second = h_.op(OpId{op.id.index() + 1});
      if (!kept_[second.id.index()] || !stays_open(txn, op)) return;
      push(op, key(op.key), op.value);
      push(second, key(op.key), second.value);
      return;
    }
    if (is_undone(op.kind)) return push(op, key(op.key), op.value);
    if (info(op.kind).back) {
      const OpId write = undone_write_seen(h_, txn, op.id);
      if (write.valid() && kept_[write.index()]) push(op, key(op.key), op.value);
      return;
    }
    if (!is_read(op.kind) && !is_write(op.kind)) return;  // A second half, added with its first.
    if (is_write(op.kind)) {
      if (stays(op.id)) push(op, key(op.key), op.value);
      return;
    }
    if (op.value.is_unobserved()) return;
    if (op.value.is_list() && op.value.length() > 0) return add_list_read(txn, op);
    if (present(op.key, op.value)) push(op, key(op.key), op.value);
  }

  // Makes each half of a compare-and-set whose other half is gone a plain read or write. Looks at
  // the operations of the part from `first` on.
  void part_halves(std::size_t first) {
    for (std::size_t i = first; i < s_->op_kind.size(); ++i) {
      OpKind& kind = s_->op_kind[i];
      const bool goes_on = i + 1 < s_->op_kind.size() && info(s_->op_kind[i + 1]).second &&
                           out_.ops[i + 1].index() == out_.ops[i].index() + 1;
      if (info(kind).first && goes_on) {
        ++i;
      } else if (info(kind).first || info(kind).second) {
        kind = is_write(kind) ? OpKind::Write : OpKind::Read;
      }
    }
  }

  // Whether an open read may return the same in this part as in the whole: the own write before it,
  // or else all writes of others that it may have returned, stay.
  [[nodiscard]] bool stays_open(TxnId txn, const Op& read) const {
    for (OpId id = read.id; id > h_.first_op(txn);) {
      const Op own = h_.op(OpId{--id.value});
      if (own.key == read.key && is_write(own.kind)) return stays(own.id);
    }
    const auto writes = e_.last_writes(read.key);
    return std::all_of(writes.begin(), writes.end(), [&](OpId write) {
      const bool own = write >= h_.first_op(txn) && write < h_.end_op(txn);
      return own || !read_fits(read.kind, read.value, h_.op(write).value) || stays(write);
    });
  }

  void push(const Op& op, KeyId key, Value value) {
    s_->op_kind.push_back(op.kind);
    s_->op_key.push_back(key);
    s_->op_value.push_back(value);
    const auto lines = columns_of(h_).op_line;
    if (!lines.empty()) s_->op_line.push_back(lines[op.id.index()]);
    if (!columns_of(h_).op_part.empty()) s_->op_part.push_back(h_.undone_part(op.id));
    out_.ops.push_back(op.id);
  }

  // Whether a write is in this part. One that its own transaction overwrote goes with the last one.
  [[nodiscard]] bool stays(OpId write) const {
    return kept_[write.index()] && kept_[e_.installed(write).index()] && e_.knows(h_.op(write).key);
  }

  // Whether the version that a read returned is in this part, or was never written in the whole.
  [[nodiscard]] bool present(KeyId key, Value value) const {
    const auto sources = e_.sources(key, value);
    return sources.empty() ||
           std::any_of(sources.begin(), sources.end(), [&](OpId op) { return stays(op); });
  }

  [[nodiscard]] bool wrote(TxnId txn, KeyId key, Value value) const {
    const auto sources = e_.sources(key, value);
    return std::any_of(sources.begin(), sources.end(),
                       [&](OpId op) { return op >= h_.first_op(txn) && op < h_.end_op(txn); });
  }

  // Removes elements that are gone. But if the last element of another transaction is gone, the
  // read goes, too: it would show another version.
  void add_list_read(TxnId txn, const Op& op) {
    const auto list = h_.list(op.value);
    std::size_t others = list.size();  // The length up to the last element of another transaction.
    while (others > 0 && wrote(txn, op.key, list[others - 1])) --others;
    if (others > 0 && !present(op.key, list[others - 1])) return;
    std::vector<Value> left;
    for (const Value element : list) {
      if (present(op.key, element)) left.push_back(element);
    }
    const KeyId renamed = key(op.key);
    push(op, renamed, list_value(renamed, std::move(left)));
  }

  // The list as a value: a prefix of a trunk. Most reads of a list are prefixes of each other.
  Value list_value(KeyId key, std::vector<Value> list) {
    const auto length = static_cast<std::uint32_t>(list.size());
    if (length == 0) return Value::list(0, 0);
    std::vector<std::uint32_t>& of_key = key_trunks_[key];
    for (const std::uint32_t t : of_key) {
      std::vector<Value>& known = trunks_[t];
      const std::size_t common = std::min(known.size(), list.size());
      if (!std::equal(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(common),
                      known.begin())) {
        continue;
      }
      if (known.size() < list.size()) known = std::move(list);
      return Value::list(t, length);
    }
    const auto added = static_cast<std::uint32_t>(trunks_.size());
    trunks_.push_back(std::move(list));
    of_key.push_back(added);
    return Value::list(added, length);
  }

  // Adds what is left of a predicate read, and returns its number; nothing if the read must go.
  std::optional<std::size_t> predicate_read(const Op& op) {
    PredicateRead read = h_.predicate_read(op.id);
    const std::size_t first_row = s_->row_reads.size();
    const std::size_t first_version = s_->version_sets.size();
    const auto* grounds = e_.grounds(op.id);
    if (const auto* rows = e_.counter_rows(op)) {
      // Without one of the increments it would have to add up to something else.
      const bool all = std::all_of(rows->writes.begin(), rows->writes.end(),
                                   [&](OpId write) { return stays(write); });
      if (!all) return std::nullopt;
      for (const KeyId row : rows->initial) key(row);
    }
    bool exact = true;  // Whether the result of an aggregate is still about the same rows.
    if (!keeps_open_rows(op, exact) || (grounds != nullptr && !stands(op, *grounds, read, exact)) ||
        ((read.has_version_set || op.kind == OpKind::Scan) && !keeps_own_writes(op, read, exact)) ||
        !add_rows(op, read, grounds) || !add_version_set(op, read, grounds, exact)) {
      s_->row_reads.resize(first_row);
      s_->version_sets.resize(first_version);
      return std::nullopt;
    }
    read.first_row = static_cast<std::uint32_t>(first_row);
    read.row_count = static_cast<std::uint32_t>(s_->row_reads.size() - first_row);
    read.first_version = static_cast<std::uint32_t>(first_version);
    read.version_count = static_cast<std::uint32_t>(s_->version_sets.size() - first_version);
    if (op.kind == OpKind::Aggregate && !exact) read.result = Value::unobserved();
    s_->predicate_reads.push_back(read);
    return s_->predicate_reads.size() - 1;
  }

  // Of a read of which it is open what it saw: whether each row that mattered to it has all its
  // versions in this part, or none. With some of them the read could have seen less than it could.
  bool keeps_open_rows(const Op& op, bool& exact) {
    const auto* rows = e_.open_rows(op.id);
    if (rows == nullptr) return true;
    for (const RowGrounds::Matter& row : *rows) {
      const auto writes = e_.writes_of(row.key);
      const auto left =
          std::count_if(writes.begin(), writes.end(), [&](OpId write) { return stays(write); });
      const bool all = e_.knows(row.key) && left == std::ssize(writes);
      if (!all && (left > 0 || row.initially)) return false;
      if (all && row.initially) key(row.key);  // Nobody may mention it.
      exact &= all;
    }
    return true;
  }

  [[nodiscard]] bool is_grounded(const RowGrounds::Row& row) const {
    return std::all_of(row.needed.begin(), row.needed.end(),
                       [&](OpId op) { return !op.valid() || stays(op); });
  }
  [[nodiscard]] bool is_even(OpId read, const RowGrounds::Row& row) const {
    return e_.is_even(read, row, [&](OpId op) { return stays(op); });
  }

  // Whether of each row either all that the read rests on stays, or nothing, so that it says
  // nothing about the row.
  bool stands(const Op& op, const std::vector<RowGrounds::Row>& grounds, const PredicateRead& read,
              bool& exact) {
    for (const RowGrounds::Row& row : grounds) {
      const bool stands = is_grounded(row) || is_even(op.id, row);
      if (!stands && is_written(row.key)) return false;
      if (read.has_version_set) {
        // The initial version would be left, and a set that does not list it would be wrong.
        if (!stands && row.initial_matches && e_.knows(row.key)) return false;
        if (row.missed && e_.knows(row.key)) key(row.key);
        continue;
      }
      if (!stands && row.initial_matches) return false;
      if (!row.matches || !e_.knows(row.key)) continue;
      // A row that was there from the beginning counts, even if no operation names it.
      if (!row.seen.valid()) key(row.key);
      if (row.seen.valid() && !stays(row.seen)) exact = false;
    }
    return true;
  }

  // Whether of each key that the transaction wrote before the read, either the last such write
  // stays or none does.
  bool keeps_own_writes(const Op& op, const PredicateRead& read, bool& exact) const {
    struct Own {
      OpId last;
      bool any_stays = false;
    };
    absl::flat_hash_map<KeyId, Own> own;
    for (OpId id = h_.first_op(h_.txn_of(op.id)); id < op.id; ++id.value) {
      if (!writes_register(h_.op(id).kind)) continue;
      Own& known = own[h_.op(id).key];
      known = {id, known.any_stays || stays(id)};
    }
    for (const auto& [key, writes] : own) {
      if (stays(writes.last)) continue;
      if (writes.any_stays) return false;
      if (op.kind != OpKind::Aggregate) continue;
      exact &= evaluate(h_, read.predicate, key, h_.op(writes.last).value) != Truth::True;
    }
    return true;
  }

  [[nodiscard]] bool gone(const KeyVersion& row) const {
    return !e_.knows(row.key) || !present(row.key, row.value);
  }

  // Adds the returned rows that are left. False if the read must go: a scan that loses a row would
  // say that its key is absent, which must then be so in this part.
  bool add_rows(const Op& op, const PredicateRead& read,
                const std::vector<RowGrounds::Row>* judged) {
    const auto rows = h_.rows(read);
    for (const KeyVersion& row : rows) {
      if (!gone(row)) {
        s_->row_reads.push_back({key(row.key), row.value});
      } else if (op.kind == OpKind::Scan ? !is_absent(row.key)
                                         : judged != nullptr && is_written(row.key)) {
        return false;
      }
    }
    return op.kind != OpKind::Scan || add_absences(read);
  }

  // Adds keys with an initial value that a scan did not return, since perhaps no operation names
  // them. False if they, unclear rows or deleted ones would not be absent as they are in the whole.
  bool add_absences(const PredicateRead& read) {
    const auto initial_rows = e_.initial_rows(read.lower, read.upper);
    const auto unclear_rows = e_.unclear_rows(read.lower, read.upper);
    const auto deleted_rows = e_.deleted_rows(read.lower, read.upper);
    if (initial_rows.empty() && unclear_rows.empty() && deleted_rows.empty()) return true;
    absl::flat_hash_set<KeyId> found;
    for (const KeyVersion& row : h_.rows(read)) {
      if (deleted_rows.empty() || !row.value.is_null()) found.insert(row.key);
    }
    for (const KeyId missed : initial_rows) {
      if (found.contains(missed)) continue;
      if (gone({missed, Value::null()}) || lacks_deletes(missed)) return false;
      key(missed);
    }
    const bool deleted =
        std::all_of(deleted_rows.begin(), deleted_rows.end(), [&](KeyId missed) {
          return found.contains(missed) || read.has_version_set || keeps_deletes(missed);
        });
    return deleted && std::all_of(unclear_rows.begin(), unclear_rows.end(), [&](KeyId missed) {
             return found.contains(missed) || stays_unclear(missed);
           });
  }

  // Whether a scan may have missed the key for all the reasons that there are in the whole, or the
  // key is never there in this part.
  [[nodiscard]] bool keeps_deletes(KeyId key) {
    if (is_absent(key)) return true;
    const auto deletes = e_.deletes(key);
    return std::all_of(deletes.begin(), deletes.end(), [&](OpId op) { return stays(op); });
  }

  // Whether a scan may lack the key for more than one reason in this part, too, or the key is not
  // written at all.
  [[nodiscard]] bool stays_unclear(KeyId key) {
    const bool initially = h_.initial(key).is_null();
    if (initially && !is_written(key)) return true;
    const auto deletes = e_.deletes(key);
    const auto left = std::count_if(deletes.begin(), deletes.end(), [&](OpId op) {
      return !h_.op(op).value.is_null() && stays(op);
    });
    return left >= (initially ? 1 : 2);
  }

  // Whether a row was deleted, but not in this part, where it would be there all the time.
  [[nodiscard]] bool lacks_deletes(KeyId key) const {
    const auto deletes = e_.deletes(key);
    return !deletes.empty() &&
           std::none_of(deletes.begin(), deletes.end(), [&](OpId op) { return stays(op); });
  }

  // Adds what is left of the version set; versions that are gone are replaced by others that match,
  // or do not, like them. False if there is none, so that the read must go.
  bool add_version_set(const Op& op, const PredicateRead& read,
                       const std::vector<RowGrounds::Row>* judged, bool& exact) {
    for (const KeyVersion& version : h_.version_set(read)) {
      if (!gone(version)) {
        s_->version_sets.push_back({key(version.key), version.value});
        continue;
      }
      if (op.kind == OpKind::Scan) {
        if (!is_absent(version.key)) return false;
        continue;
      }
      exact &= evaluate(h_, read.predicate, version.key, version.value) != Truth::True;
      if (judged == nullptr || !e_.knows(version.key)) continue;
      const auto row =
          std::lower_bound(judged->begin(), judged->end(), version.key,
                           [](const RowGrounds::Row& each, KeyId key) { return each.key < key; });
      if (row == judged->end() || row->key != version.key) continue;  // It never matched.
      if (!is_written(version.key)) {
        if (row->initial_matches) {
          s_->version_sets.push_back({key(version.key), h_.initial(version.key)});
        }
        continue;
      }
      const Value instead = is_grounded(*row) ? row->like : row->initially;
      if (row->value != version.value || instead.is_unobserved()) return false;
      if (!instead.is_null()) s_->version_sets.push_back({key(version.key), instead});
    }
    return true;
  }

  // Whether a transaction that did not abort writes the key in this part.
  [[nodiscard]] bool is_written(KeyId key) {
    if (!written_) {
      written_.emplace();
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        if (!kept_[i]) continue;
        const Op op = h_.op(OpId{i});
        if (!is_write(op.kind) || !stays(op.id)) continue;
        if (h_.status(h_.txn_of(op.id)) != TxnStatus::Aborted) written_->insert(op.key);
      }
    }
    return written_->contains(key);
  }

  // Whether the key never has a value in this part.
  [[nodiscard]] bool is_absent(KeyId key) { return !is_written(key) && h_.initial(key).is_null(); }

  // The id of the key in the part, to which it is added if necessary.
  KeyId key(KeyId whole) {
    const auto [at, added] = keys_.try_emplace(whole, s_->key_name.size());
    if (added) {
      s_->key_name.push_back(h_.key_name(whole));
      out_.keys.push_back(whole);
    }
    return at->second;
  }

  void add_initial_values() {
    for (const auto& [whole, renamed] : keys_) {
      const Value initial = h_.initial(whole);
      if (initial != h_.default_initial()) s_->key_initial.push_back({renamed, initial});
    }
    std::sort(s_->key_initial.begin(), s_->key_initial.end());
  }

  void add_version_orders() {
    for (const VersionOrder& order : h_.version_orders()) {
      const auto key = keys_.find(order.key);
      if (key == keys_.end()) continue;
      VersionOrder left{key->second, order.complete,
                        static_cast<std::uint32_t>(s_->versions.size()), 0};
      for (const Value version : h_.versions(order)) {
        if (present(order.key, version)) s_->versions.push_back(version);
      }
      left.count = static_cast<std::uint32_t>(s_->versions.size()) - left.first;
      s_->version_orders.push_back(left);
    }
    // A history with version orders must remain one, or it could not be judged by them. An empty
    // fragment says nothing else.
    const bool lost = !h_.version_orders().empty() && s_->version_orders.empty();
    if (lost && !s_->key_name.empty()) s_->version_orders.push_back({KeyId{0}, false, 0, 0});
  }

  void gather_sessions() {
    std::vector<std::uint32_t>& first = s_->session_first;
    first.assign(s_->session_name.size() + 1, 0);
    for (const SessionId session : s_->txn_session) ++first[session.index() + 1];
    for (std::size_t s = 1; s < first.size(); ++s) first[s] += first[s - 1];
    s_->session_txns.resize(s_->txn_session.size());
    std::vector<std::uint32_t> next = first;
    for (std::size_t t = 0; t < s_->txn_session.size(); ++t) {
      s_->session_txns[next[s_->txn_session[t].index()]++] = TxnId{t};
    }
  }

  // Predicates, and what values refer to, are those of the whole history.
  [[nodiscard]] HistoryColumns columns() const {
    HistoryColumns c = columns_of(h_);
    for_each_column([](auto& view, const auto& own) { view = own; }, c, *s_);
    static_cast<PredicateColumns<ColumnSpan>&>(c) = columns_of(h_);
    static_cast<PoolColumns<ColumnSpan>&>(c) = columns_of(h_);
    return c;
  }

  const Excerpter& e_;
  const History& h_;
  const std::vector<bool>& kept_;
  std::shared_ptr<Storage> s_ = std::make_shared<Storage>();
  TxnId reader_, writer_;  // Those given to set_apart().
  TxnId earlier_, later_;  // Those given to set_order().
  KeyId apart_, seen_;     // New keys for one of these.
  absl::flat_hash_map<SessionId, SessionId> sessions_;
  absl::flat_hash_map<KeyId, KeyId> keys_;
  std::optional<absl::flat_hash_set<KeyId>> written_;  // See is_written(), which makes it.
  std::vector<std::vector<Value>> trunks_;             // Lists that others are prefixes of.
  absl::flat_hash_map<KeyId, std::vector<std::uint32_t>> key_trunks_;
  Excerpt out_;
};

Excerpt Excerpter::make(std::span<const TxnId> txns, const std::vector<bool>& kept) const {
  return ExcerptMaker(*this, kept).make(txns);
}

Excerpt Excerpter::whole_with(TxnId reader, TxnId writer) const {
  const std::vector<bool> kept(h_.op_count(), true);
  ExcerptMaker maker(*this, kept);
  maker.set_apart(reader, writer);
  return maker.make(all_txns(h_));
}

Excerpt Excerpter::whole_ordered(TxnId earlier, TxnId later) const {
  const std::vector<bool> kept(h_.op_count(), true);
  ExcerptMaker maker(*this, kept);
  maker.set_order(earlier, later);
  return maker.make(all_txns(h_));
}

History excerpt(const History& history, std::span<const TxnId> txns, std::span<const OpId> ops,
                Evidence evidence) {
  std::vector<bool> kept(history.op_count(), false);
  for (const OpId op : ops) kept[op.index()] = true;
  return Excerpter(history, evidence).make(txns, kept).history;
}

History excerpt(const History& history, std::span<const TxnId> txns, Evidence evidence) {
  std::vector<OpId> ops;
  for (const TxnId txn : txns) {
    for (OpId op = history.first_op(txn); op < history.end_op(txn); ++op.value) ops.push_back(op);
  }
  return excerpt(history, txns, ops, evidence);
}

}  // namespace ouro
