// Excerpter::make() and the like: transactions, their operations on single keys, and the version
// orders. excerpt_predicates.h has predicate reads.
//
// A part shares the texts, rows and predicates of the whole history, so values have the same ids in
// both; only operations, transactions, keys and the lists that were read are written anew.

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "explain/excerpt.h"
#include "explain/excerpt_draft.h"
#include "explain/excerpt_predicates.h"
#include "history/access.h"
#include "history/session_order.h"
#include "history/undone.h"

namespace ouro {
namespace {

// Appends the entry of `txn` in a column that may be missing.
template <class T>
void take(std::vector<T>& out, std::span<const T> column, TxnId txn) {
  if (!column.empty()) out.push_back(column[txn.index()]);
}

std::vector<TxnId> all_txns(const History& history) {
  std::vector<TxnId> all(history.txn_count());
  for (std::size_t t = 0; t < all.size(); ++t) all[t] = TxnId{t};
  return all;
}

// Makes one part.
class ExcerptMaker {
 public:
  ExcerptMaker(const Excerpter& excerpter, const std::vector<bool>& kept)
      : d_(excerpter, kept), e_(excerpter), h_(excerpter.history()), s_(d_.storage()) {}

  // Adds a key that `writer` writes, and of which `reader` reads the initial value.
  void set_apart(TxnId reader, TxnId writer) {
    reader_ = reader;
    writer_ = writer;
    apart_ = d_.new_key();
  }

  // Adds a transaction that sees that `earlier` wrote before `later`.
  void set_order(TxnId earlier, TxnId later) {
    earlier_ = earlier;
    later_ = later;
    seen_ = d_.new_key();
    apart_ = d_.new_key();
  }

  Excerpt make(std::span<const TxnId> txns) {
    for (const TxnId txn : txns) add_txn(txn);
    out_.txns.assign(txns.begin(), txns.end());
    if (earlier_.valid()) add_observer();
    s_.txn_first_op.push_back(static_cast<std::uint32_t>(s_.op_kind.size()));
    gather_sessions();
    add_initial_values();
    add_version_orders();
    for (const auto& trunk : trunks_) {
      s_.elements.insert(s_.elements.end(), trunk.begin(), trunk.end());
      s_.trunk_end.push_back(s_.elements.size());
    }
    if (earlier_.valid()) out_.txns.emplace_back();
    out_.keys = d_.take_key_ids();
    out_.steps = d_.steps() + e_.take_steps();
    out_.history = d_.history();
    out_.whole = h_;
    return std::move(out_);
  }

 private:
  void add_txn(TxnId txn) {
    const HistoryColumns& c = columns_of(h_);
    s_.txn_first_op.push_back(static_cast<std::uint32_t>(s_.op_kind.size()));
    const auto [session, added] = sessions_.try_emplace(h_.session(txn), s_.session_name.size());
    if (added) s_.session_name.push_back(h_.session_name(h_.session(txn)));
    s_.txn_session.push_back(session->second);
    s_.txn_status.push_back(h_.status(txn));
    TxnColumns<ColumnSpan>::each_optional(
        [&](const auto&, auto& out, const auto& column) { take(out, column, txn); }, s_, c);
    take(s_.txn_position, c.txn_position, txn);
    take(s_.txn_file, c.txn_file, txn);
    if (txn == reader_) add_apart(OpKind::Read, apart_, h_.default_initial());
    const std::size_t first = s_.op_kind.size();
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) {
      if (d_.kept(id)) add_op(txn, h_.op(id));
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
    s_.txn_first_op.push_back(static_cast<std::uint32_t>(s_.op_kind.size()));
    s_.txn_session.emplace_back(s_.session_name.size());
    s_.session_name.push_back(Value::small(0));
    s_.txn_status.push_back(TxnStatus::Committed);
    TxnColumns<ColumnSpan>::each_optional(
        [](const auto& missing, auto& out, const auto& column) {
          if (!column.empty()) out.push_back(missing);
        },
        s_, c);
    if (!c.txn_position.empty()) s_.txn_position.push_back(0);
    if (!c.txn_file.empty()) s_.txn_file.push_back(0);
    add_apart(OpKind::Read, seen_, other_than_initial(1));
    add_apart(OpKind::Read, apart_, other_than_initial(3));
  }

  // Adds an operation that the whole history does not have.
  void add_apart(OpKind kind, KeyId key, Value value) {
    s_.op_kind.push_back(kind);
    s_.op_key.push_back(key);
    s_.op_value.push_back(value);
    if (!columns_of(h_).op_line.empty()) s_.op_line.push_back(0);
    if (!columns_of(h_).op_part.empty()) s_.op_part.push_back(0);
    out_.ops.emplace_back();
  }

  // `number`, or the next one if `number` is the initial value.
  [[nodiscard]] Value other_than_initial(std::int64_t number) const {
    const Value value = Value::small(number);
    return h_.default_initial() == value ? Value::small(number + 1) : value;
  }

  void add_op(TxnId txn, const Op& op) {
    if (is_predicate_read(op.kind)) {
      if (const auto number = add_predicate_read(d_, op)) {
        push(op, KeyId{}, Value::small(static_cast<std::int64_t>(*number)));
      }
      return;
    }
    if (!e_.knows(op.key)) return;
    if (is_open_read(op.kind)) {
      const Op second = h_.op(OpId{op.id.index() + 1});
      if (!d_.kept(second.id) || !stays_open(txn, op)) return;
      push(op, d_.key(op.key), op.value);
      push(second, d_.key(op.key), second.value);
      return;
    }
    if (is_undone(op.kind)) return push(op, d_.key(op.key), op.value);
    if (info(op.kind).back) {
      const OpId write = undone_write_seen(h_, txn, op.id);
      if (!write.valid() || !d_.kept(write)) return;
      const KeyId renamed = d_.key(op.key);
      if (!op.value.is_list()) return push(op, renamed, op.value);
      const auto list = h_.list(op.value);
      return push(op, renamed, list_value(renamed, {list.begin(), list.end()}));
    }
    if (!is_read(op.kind) && !is_write(op.kind)) return;  // A second half, added with its first.
    if (is_write(op.kind)) {
      if (d_.stays(op.id)) push(op, d_.key(op.key), op.value);
      return;
    }
    if (op.value.is_unobserved()) return;
    if (op.value.is_list() && op.value.length() > 0) return add_list_read(txn, op);
    if (d_.left(op.id, {op.key, op.value}) == ExcerptDraft::Left::All) {
      push(op, d_.key(op.key), op.value);
    }
  }

  // Makes each half of a compare-and-set whose other half is gone a plain read or write. Looks at
  // the operations of the part from `first` on.
  void part_halves(std::size_t first) {
    for (std::size_t i = first; i < s_.op_kind.size(); ++i) {
      OpKind& kind = s_.op_kind[i];
      const bool goes_on = i + 1 < s_.op_kind.size() && info(s_.op_kind[i + 1]).second &&
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
  [[nodiscard]] bool stays_open(TxnId txn, const Op& read) {
    const OpId before = d_.own_write_before(read.id, read.key);
    if (before.valid()) return d_.stays(before);
    const auto writes = e_.last_writes(read.key);
    return std::all_of(writes.begin(), writes.end(), [&](OpId write) {
      const bool own = write >= h_.first_op(txn) && write < h_.end_op(txn);
      return own || !read_fits(read.kind, read.value, h_.op(write).value) || d_.stays(write);
    });
  }

  void push(const Op& op, KeyId key, Value value) {
    s_.op_kind.push_back(op.kind);
    s_.op_key.push_back(key);
    s_.op_value.push_back(value);
    const auto lines = columns_of(h_).op_line;
    if (!lines.empty()) s_.op_line.push_back(lines[op.id.index()]);
    if (!columns_of(h_).op_part.empty()) s_.op_part.push_back(h_.undone_part(op.id));
    out_.ops.push_back(op.id);
  }

  [[nodiscard]] bool wrote(TxnId txn, KeyId key, Value value) const {
    const auto sources = e_.sources(key, value);
    return std::any_of(sources.begin(), sources.end(),
                       [&](OpId op) { return op >= h_.first_op(txn) && op < h_.end_op(txn); });
  }

  // Removes elements that are gone. But if the last element of another transaction is gone, the
  // read goes, too: it would show another version. So it does if some appends of an element stay,
  // but not all: which of those that the list shows would be gone is open.
  void add_list_read(TxnId txn, const Op& op) {
    const auto list = h_.list(op.value);
    if (!e_.may_lack(op.key)) {
      const KeyId renamed = d_.key(op.key);
      push(op, renamed, list_value(renamed, {list.begin(), list.end()}));
      return;
    }
    const bool torn = std::any_of(list.begin(), list.end(),
                                  [&](Value element) { return d_.is_torn(op.key, element); });
    if (torn) return;
    std::size_t others = list.size();  // The length up to the last element of another transaction.
    while (others > 0 && wrote(txn, op.key, list[others - 1])) --others;
    if (others > 0 && !d_.present(op.key, list[others - 1])) return;
    std::vector<Value> left;
    for (const Value element : list) {
      if (d_.present(op.key, element)) left.push_back(element);
    }
    const KeyId renamed = d_.key(op.key);
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

  void add_initial_values() {
    for (const auto& [whole, renamed] : d_.keys()) {
      const Value initial = h_.initial(whole);
      if (initial != h_.default_initial()) s_.key_initial.push_back({renamed, initial});
    }
    std::sort(s_.key_initial.begin(), s_.key_initial.end());
  }

  // Where version orders name transactions: what each transaction of this part left in each key,
  // and who that is here.
  struct LastWrite {
    Value value;
    TxnId txn;
  };
  using LastWrites = absl::flat_hash_map<std::pair<TxnId, KeyId>, LastWrite>;
  [[nodiscard]] LastWrites last_writes() const {
    LastWrites out;
    if (columns_of(h_).version_txn.empty()) return out;
    for (std::size_t t = 0; t < out_.txns.size(); ++t) {
      for (std::size_t op = s_.txn_first_op[t]; op < s_.txn_first_op[t + 1]; ++op) {
        if (!is_write(s_.op_kind[op])) continue;
        out[{out_.txns[t], s_.op_key[op]}] = {s_.op_value[op], TxnId{t}};
      }
    }
    return out;
  }

  // Adds a version that an order lists, if it is in this part.
  void add_version(const KeyVersion& version, TxnId writer, const LastWrites& last) {
    TxnId here;
    if (!writer.valid()) {
      if (!d_.present(version.key, version.value)) return;
    } else {
      const auto found = last.find({writer, d_.keys().at(version.key)});
      if (found == last.end() || found->second.value != version.value) return;
      here = found->second.txn;
    }
    s_.versions.push_back(version.value);
    if (!columns_of(h_).version_txn.empty()) s_.version_txn.push_back(here);
  }

  void add_version_orders() {
    const LastWrites last = last_writes();
    for (const VersionOrder& order : h_.version_orders()) {
      const auto key = d_.keys().find(order.key);
      if (key == d_.keys().end()) continue;
      VersionOrder left{key->second, order.complete, static_cast<std::uint32_t>(s_.versions.size()),
                        0};
      const auto versions = h_.versions(order);
      const auto writers = h_.version_writers(order);
      for (std::size_t i = 0; i < versions.size(); ++i) {
        add_version({order.key, versions[i]}, writers.empty() ? TxnId{} : writers[i], last);
      }
      left.count = static_cast<std::uint32_t>(s_.versions.size()) - left.first;
      s_.version_orders.push_back(left);
    }
    // A history with version orders must remain one, or it could not be judged by them. An empty
    // fragment says nothing else.
    const bool lost = !h_.version_orders().empty() && s_.version_orders.empty();
    if (lost && !s_.key_name.empty()) s_.version_orders.push_back({KeyId{0}, false, 0, 0});
  }

  void gather_sessions() {
    SessionIndex sessions = index_sessions(s_.session_name.size(), s_.txn_session, s_.txn_sno);
    s_.session_first = std::move(sessions.first);
    s_.session_txns = std::move(sessions.txns);
  }

  ExcerptDraft d_;
  const Excerpter& e_;
  const History& h_;
  ExcerptDraft::Storage& s_;
  TxnId reader_, writer_;  // Those given to set_apart().
  TxnId earlier_, later_;  // Those given to set_order().
  KeyId apart_, seen_;     // New keys for one of these.
  absl::flat_hash_map<SessionId, SessionId> sessions_;
  std::vector<std::vector<Value>> trunks_;  // Lists that others are prefixes of.
  absl::flat_hash_map<KeyId, std::vector<std::uint32_t>> key_trunks_;
  Excerpt out_;
};

}  // namespace

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

}  // namespace ouro
