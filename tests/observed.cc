#include "tests/observed.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tests/value_oracle.h"

namespace ouro::oracle {
// Whether a read returned what its own part of the transaction wrote before it was undone: the last
// write of the key in a part that had not ended. Lists that are right are recorded as other reads.
bool reads_back(const History& history, TxnId txn, const Op& read) {
  std::set<std::uint32_t> open;
  for (auto part = history.undone_part(read.id); part != 0; part = history.outer_part(part)) {
    open.insert(part);
  }
  std::optional<Op> seen;
  for (OpId id = history.first_op(txn); id < read.id; ++id.value) {
    const Op op = history.op(id);
    if (is_undone(op.kind) && op.key == read.key && open.contains(history.undone_part(id)))
      seen = op;
  }
  return read.value.is_unobserved() ||
         (seen && seen->kind != OpKind::UndoneAppend && seen->value == read.value);
}

namespace {

// Who wrote a value, as seen by one reader.
struct Source {
  // Open: several transactions, and nobody said which.
  enum Kind { Other, Initial, Own, Aborted, Nobody, Open } kind = Nobody;
  TxnId txn;  // Of Other.
};

class Observer {
 public:
  Observer(const History& history, Evidence evidence, const Sources& sources)
      : history_(history), evidence_(evidence), sources_(sources) {
    index_writes();
    find_lists();
    count_txns();
    for (std::size_t i = 1; i < out_.txns.size(); ++i) collect_writes(i);
    for (std::size_t i = 1; i < out_.txns.size(); ++i) walk(i);
    compare_list_reads();
  }

  Observed take() && { return std::move(out_); }

 private:
  void index_writes();
  void find_lists();
  void count_txns();
  void collect_writes(std::size_t index);
  void walk(std::size_t index);
  void read_register(std::size_t index, const Op& op, const std::optional<Value>& own);
  void fail_cas(std::size_t index, const Op& op, const std::optional<Value>& own);
  void read_rows(std::size_t index, const Op& op);
  [[nodiscard]] bool is_set_read(const Op& scan) const;
  void read_untold(std::size_t index, const Op& op, const std::map<KeyId, Op>& own);
  void miss_rows(std::size_t index, const Op& op, const std::map<KeyId, Op>& own);
  [[nodiscard]] bool selects(const Op& op, const KeyVersion& row) const;
  [[nodiscard]] bool is_row(KeyId key, Value value) const;
  [[nodiscard]] Value listed_value(const PredicateRead& read, KeyId key) const;
  void read_list(std::size_t index, const Op& op, std::size_t own_count);
  void compare_list_reads();

  [[nodiscard]] Source source(OpId read, KeyId key, Value value) const;
  [[nodiscard]] std::vector<Value> elements(Value value) const;
  [[nodiscard]] bool is_last_write(TxnId writer, KeyId key, Value value) const {
    return out_.txns[index_.at(writer)].writes.at(key).back() == value;
  }
  void note(AnomalyKind kind) { out_.anomalies.insert(kind); }
  void note(const Source& source);

  const History& history_;
  const Evidence evidence_;
  const Sources& sources_;
  std::map<std::pair<std::size_t, KeyId>, std::set<Value>>
      not_read_;  // By failed cas that are open.
  std::map<std::pair<KeyId, Value>, std::set<TxnId>> writers_;
  std::set<std::pair<KeyId, Value>> undone_;
  std::set<KeyId> lists_;
  std::map<TxnId, std::size_t> index_;  // Into out_.txns.
  // By reader and key: what its reads returned so far, own appends since added.
  std::map<std::pair<std::size_t, KeyId>, std::vector<Value>> known_;
  std::map<std::pair<std::size_t, KeyId>, Value> first_read_;
  Observed out_;
};

void Observer::index_writes() {
  for (std::size_t t = 0; t < history_.txn_count(); ++t) {
    const TxnId txn{t};
    for (OpId id = history_.first_op(txn); id < history_.end_op(txn); ++id.value) {
      const Op op = history_.op(id);
      if (is_write(op.kind)) writers_[{op.key, op.value}].insert(txn);
      if (is_undone(op.kind)) undone_.insert({op.key, op.value});
    }
  }
  for (const auto& [version, txns] : writers_) {
    const auto alive = std::count_if(txns.begin(), txns.end(), [this](TxnId txn) {
      return history_.status(txn) != TxnStatus::Aborted;
    });
    const TxnId one = *txns.begin();
    for (OpId id = history_.first_op(one); id < history_.end_op(one); ++id.value) {
      const Op op = history_.op(id);
      if (alive > 1 && op.kind == OpKind::Append && op.key == version.first) {
        throw std::invalid_argument("two transactions appended one element to one list");
      }
    }
  }
}

void Observer::find_lists() {
  std::set<KeyId> registers;
  for (std::size_t i = 0; i < history_.op_count(); ++i) {
    const Op op = history_.op(OpId{i});
    const bool appends = op.kind == OpKind::Append || op.kind == OpKind::UndoneAppend;
    if (op.kind == OpKind::ReadBack) continue;
    if (appends || (is_read(op.kind) && op.value.is_list())) {
      lists_.insert(op.key);
    } else if (op.kind != OpKind::Read && !is_predicate_read(op.kind)) {
      registers.insert(op.key);
    }
  }
  for (const KeyId key : lists_) {
    if (registers.contains(key)) throw std::invalid_argument("a key is both register and list");
    if (!elements(history_.initial(key)).empty()) {
      throw std::invalid_argument("the oracle knows only lists that are empty at first");
    }
  }
}

std::vector<Value> Observer::elements(Value value) const {
  if (value.is_null()) return {};
  if (!value.is_list()) throw std::invalid_argument("a list was read as a register");
  const auto list = history_.list(value);
  return {list.begin(), list.end()};
}

// The last write of a key by a transaction, if any.
std::optional<Value> left_by(const History& history, TxnId txn, KeyId key) {
  std::optional<Value> last;
  for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
    if (is_write(history.op(id).kind) && history.op(id).key == key) last = history.op(id).value;
  }
  return last;
}

// What a read of a register may have returned, if its transaction did not write the key before: the
// last write of the key by each other transaction that did not abort, and the initial value, if it
// is the one that was read; or, of a compare-and-set that failed, if it is not.
std::vector<TxnId> possible_sources(const History& history, const Op& read) {
  const auto fits = [&](Value left) {
    return (left == read.value) != (read.kind == OpKind::CasFailed);
  };
  std::vector<TxnId> out;
  if (fits(history.initial(read.key))) out.push_back(kInitialTxn);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    if (history.status(txn) == TxnStatus::Aborted || txn == history.txn_of(read.id)) continue;
    const auto last = left_by(history, txn, read.key);
    if (last && fits(*last)) out.push_back(txn);
  }
  return out;
}

// The transactions other than `reader` that did not abort and wrote the key, and the initial one.
std::vector<TxnId> all_versions(const History& history, TxnId reader, KeyId key) {
  std::vector<TxnId> out{kInitialTxn};
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const bool counts = history.status(TxnId{t}) != TxnStatus::Aborted && TxnId{t} != reader;
    if (counts && left_by(history, TxnId{t}, key)) out.emplace_back(t);
  }
  return out;
}

// Whether a scan returned a row of the key. One that is null was not found.
bool returns(const History& history, const PredicateRead& scan, KeyId key) {
  for (const KeyVersion& row : history.rows(scan)) {
    if (row.key == key && !row.value.is_null()) return true;
  }
  return false;
}

// Whether some scan lists the tombstone of a delete.
bool shows_tombstones(const History& history) {
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op scan = history.op(OpId{i});
    if (scan.kind != OpKind::Scan) continue;
    for (const KeyVersion& row : history.rows(history.predicate_read(scan.id))) {
      for (std::size_t j = 0; j < history.op_count(); ++j) {
        const Op op = history.op(OpId{j});
        const bool left = op.kind == OpKind::Delete && !op.value.is_null();
        if (left && op.key == row.key && op.value == row.value) return true;
      }
    }
  }
  return false;
}

// Whether scans list what a write left: a row, or a tombstone if some scan lists one.
bool is_shown(const History& history, const Op& write) {
  if (write.value.is_null()) return false;
  return write.kind != OpKind::Delete || shows_tombstones(history);
}

// Who may have left a key absent for a scan by `reader`.
std::vector<TxnId> absences(const History& history, TxnId reader, KeyId key) {
  std::vector<TxnId> out;
  if (history.initial(key).is_null()) out.push_back(kInitialTxn);
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    if (history.status(txn) == TxnStatus::Aborted || txn == reader) continue;
    std::optional<Op> last;
    for (OpId id = history.first_op(txn); id < history.end_op(txn); ++id.value) {
      if (is_write(history.op(id).kind) && history.op(id).key == key) last = history.op(id);
    }
    if (last && !is_shown(history, *last)) out.push_back(txn);
  }
  return out;
}

Source Observer::source(OpId read, KeyId key, Value value) const {
  const TxnId reader = history_.txn_of(read);
  if (const auto said = sources_.find({read, key}); said != sources_.end()) {
    return said->second == kInitialTxn ? Source{Source::Initial, {}}
                                       : Source{Source::Other, said->second};
  }
  if (!lists_.contains(key)) {
    const auto possible = possible_sources(history_, {read, OpKind::Read, key, value});
    if (possible.size() > 1) return {Source::Open, {}};
    if (possible.size() == 1 && possible[0] == kInitialTxn) return {Source::Initial, {}};
    if (possible.size() == 1) return {Source::Other, possible[0]};
  }
  bool own = false;
  bool aborted = undone_.contains({key, value});
  if (const auto found = writers_.find({key, value}); found != writers_.end()) {
    for (const TxnId txn : found->second) {
      if (history_.status(txn) == TxnStatus::Aborted) {
        aborted = true;
      } else if (txn == reader) {
        own = true;
      } else {
        return {Source::Other, txn};
      }
    }
  }
  if (own) return {Source::Own, reader};
  return {aborted ? Source::Aborted : Source::Nobody, {}};
}

// Committed transactions count, and unknown ones that one that counts has read from, or that are in
// a version order.
void Observer::count_txns() {
  std::set<TxnId> counted;
  std::vector<TxnId> unexplored;
  for (std::size_t t = 0; t < history_.txn_count(); ++t) {
    if (history_.status(TxnId{t}) != TxnStatus::Committed) continue;
    counted.insert(TxnId{t});
    unexplored.push_back(TxnId{t});
  }
  for (const VersionOrder& order : history_.version_orders()) {
    if (evidence_ != Evidence::Versions) break;
    const auto versions = history_.versions(order);
    const auto named = history_.version_writers(order);
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool by_name = !named.empty() && named[i].valid();
      for (const TxnId txn :
           by_name ? std::set<TxnId>{named[i]} : writers_.at({order.key, versions[i]})) {
        if (history_.status(txn) != TxnStatus::Unknown || !counted.insert(txn).second) continue;
        unexplored.push_back(txn);
      }
    }
  }
  while (!unexplored.empty()) {
    const TxnId reader = unexplored.back();
    unexplored.pop_back();
    std::set<KeyId> written;  // Registers: later reads are of these writes.
    for (OpId id = history_.first_op(reader); id < history_.end_op(reader); ++id.value) {
      const Op op = history_.op(id);
      if (is_write(op.kind) && !lists_.contains(op.key)) written.insert(op.key);
      if (op.kind == OpKind::Scan || op.kind == OpKind::Select) {
        for (const KeyVersion& row : history_.rows(history_.predicate_read(id))) {
          if (written.contains(row.key)) continue;
          const Source from = source(id, row.key, row.value);
          if (from.kind == Source::Other && counted.insert(from.txn).second) {
            unexplored.push_back(from.txn);
          }
        }
      }
      for (auto said = sources_.lower_bound({id, KeyId{0}});
           said != sources_.end() && said->first.first == id; ++said) {
        const TxnId writer = said->second;
        const bool unknown = writer != kInitialTxn && history_.status(writer) == TxnStatus::Unknown;
        if (unknown && counted.insert(writer).second) unexplored.push_back(writer);
      }
      if (!is_read(op.kind) || op.value.is_unobserved() || written.contains(op.key)) continue;
      const auto values =
          lists_.contains(op.key) ? elements(op.value) : std::vector<Value>{op.value};
      for (const Value value : values) {
        const Source from = source(id, op.key, value);
        if (from.kind == Source::Other && counted.insert(from.txn).second) {
          unexplored.push_back(from.txn);
        }
      }
    }
  }
  out_.txns.push_back({kInitialTxn, {}, {}});
  for (const TxnId txn : counted) {
    index_[txn] = out_.txns.size();
    out_.txns.push_back({txn, {}, {}});
  }
}

void Observer::collect_writes(std::size_t index) {
  CountedTxn& txn = out_.txns[index];
  for (OpId id = history_.first_op(txn.id); id < history_.end_op(txn.id); ++id.value) {
    const Op op = history_.op(id);
    if (is_write(op.kind)) txn.writes[op.key].push_back(op.value);
  }
}

void Observer::walk(std::size_t index) {
  const TxnId txn = out_.txns[index].id;
  std::map<KeyId, std::vector<Value>> own;  // Written so far.
  for (OpId id = history_.first_op(txn); id < history_.end_op(txn); ++id.value) {
    const Op op = history_.op(id);
    if (is_predicate_read(op.kind)) {
      read_rows(index, op);
      continue;
    }
    std::vector<Value>& written = own[op.key];
    if (is_undone(op.kind)) continue;
    if (op.kind == OpKind::ReadBack) {
      if (!reads_back(history_, txn, op)) note(AnomalyKind::Internal);
    } else if (is_write(op.kind)) {
      written.push_back(op.value);
      const auto known = known_.find({index, op.key});
      if (known != known_.end()) known->second.push_back(op.value);
    } else if (op.kind == OpKind::CasFailed) {
      fail_cas(index, op, written.empty() ? std::nullopt : std::optional<Value>(written.back()));
    } else if (op.value.is_unobserved() || op.kind == OpKind::CasUnwritten) {
      continue;
    } else if (lists_.contains(op.key)) {
      read_list(index, op, written.size());
    } else {
      read_register(index, op,
                    written.empty() ? std::nullopt : std::optional<Value>(written.back()));
    }
  }
}

// Rows are reads of their keys, and so is what a scan did not find.
void Observer::read_rows(std::size_t index, const Op& op) {
  const TxnId txn = out_.txns[index].id;
  const PredicateRead& read = history_.predicate_read(op.id);
  std::map<KeyId, Op> own;
  for (OpId id = history_.first_op(txn); id < op.id; ++id.value) {
    if (is_write(history_.op(id).kind)) own[history_.op(id).key] = history_.op(id);
  }
  const auto read_key = [&](KeyId key, Value value) {
    const auto mine = own.find(key);
    read_register(index, {op.id, OpKind::Read, key, value},
                  mine == own.end() ? std::nullopt : std::optional<Value>(mine->second.value));
  };
  const bool by_clients = op.kind == OpKind::Scan && !read.has_version_set;
  std::set<KeyId> returned;
  for (const KeyVersion& row : history_.rows(read)) {
    const bool first = returned.insert(row.key).second;
    if (!first || !selects(op, row)) note(AnomalyKind::ResultSetMismatch);
    const bool by_set = op.kind == OpKind::Scan && read.has_version_set && !own.contains(row.key);
    if (by_set && listed_value(read, row.key) != row.value) note(AnomalyKind::ResultSetMismatch);
    if (by_clients && row.value.is_null()) continue;
    const std::size_t before = out_.txns[index].reads.size();
    read_key(row.key, row.value);
    const bool left_out = op.kind == OpKind::Scan && row.value.is_null();
    if (left_out && out_.txns[index].reads.size() > before) {
      out_.txns[index].reads.back().absence = true;
    }
  }
  for (const KeyVersion& version : history_.version_set(read)) {
    const auto mine = own.find(version.key);
    if (mine != own.end() && mine->second.value != version.value) note(AnomalyKind::Internal);
  }
  if (op.kind != OpKind::Scan && evidence_ == Evidence::Observed)
    return read_untold(index, op, own);
  if (op.kind != OpKind::Scan) {
    out_.predicates.push_back({op.id, index, own});
    return;
  }
  if (by_clients) return miss_rows(index, op, own);
  for (std::size_t k = 0; k < history_.key_count(); ++k) {
    const KeyId key{k};
    if (!selects(op, {key, {}}) || returned.contains(key) || lists_.contains(key)) continue;
    const std::size_t before = out_.txns[index].reads.size();
    const auto mine = own.find(key);
    const bool deleted = mine != own.end() && mine->second.kind == OpKind::Delete;
    const Value seen = listed_value(read, key);
    read_key(key, deleted ? mine->second.value : seen);
    const bool missed = is_row(key, mine == own.end() ? seen : mine->second.value);
    if (missed) note(AnomalyKind::ResultSetMismatch);
    if (out_.txns[index].reads.size() > before) {
      out_.txns[index].reads.back().absence = !is_set_read(op);
    }
  }
}

// A set is read by a scan of its elements, and a read of it leaves none of them out.
bool Observer::is_set_read(const Op& scan) const {
  const Value lower = history_.predicate_read(scan.id).lower;
  return lower.kind() == ValueKind::Text && history_.string(lower).ends_with("∋");
}

// A scan without a version set saw no row of each key in its range that it did not return;
// `sources_` says who left it so. If nobody is named, nobody did.
void Observer::miss_rows(std::size_t index, const Op& op, const std::map<KeyId, Op>& own) {
  const PredicateRead& read = history_.predicate_read(op.id);
  for (std::size_t k = 0; k < history_.key_count(); ++k) {
    const KeyId key{k};
    if (lists_.contains(key) || !in_range(history_, read, key) || returns(history_, read, key)) {
      continue;
    }
    if (const auto mine = own.find(key); mine != own.end()) {
      const bool row = mine->second.kind != OpKind::Delete && !mine->second.value.is_null();
      if (row) note(AnomalyKind::Internal);
      continue;
    }
    const auto said = sources_.find({op.id, key});
    if (said != sources_.end()) {
      const std::size_t from = said->second == kInitialTxn ? 0 : index_.at(said->second);
      out_.txns[index].reads.push_back({op.id, key, from, !is_set_read(op)});
      continue;
    }
    std::set<Source::Kind> kinds;
    for (std::size_t i = 0; i < history_.op_count(); ++i) {
      const Op write = history_.op(OpId{i});
      if (!is_write(write.kind) || write.key != key || is_shown(history_, write)) continue;
      const TxnId writer = history_.txn_of(write.id);
      const bool aborted = history_.status(writer) == TxnStatus::Aborted;
      if (aborted && !write.value.is_null()) continue;
      kinds.insert(aborted                           ? Source::Aborted
                   : writer == out_.txns[index].id ? Source::Own
                                                     : Source::Other);
    }
    if (kinds.contains(Source::Other)) {
      note(AnomalyKind::IntermediateRead);
    } else if (kinds.contains(Source::Own)) {
      note(AnomalyKind::FutureRead);
    } else {
      note(kinds.contains(Source::Aborted) ? AnomalyKind::AbortedRead : AnomalyKind::ThinAirRead);
    }
  }
}

// By observation a select or an aggregate read one version of every key, also of those that it does
// not tell of; `sources_` says which. Together with the own writes before it these must give what
// it returned.
void Observer::read_untold(std::size_t index, const Op& op, const std::map<KeyId, Op>& own) {
  const PredicateRead& read = history_.predicate_read(op.id);
  std::vector<KeyVersion> matching;
  const auto match = [&](KeyId key, Value value, bool deleted) {
    if (!deleted && !value.is_null() && selects(op, {key, value})) matching.push_back({key, value});
  };
  for (const auto& [key, write] : own) match(key, write.value, write.kind == OpKind::Delete);
  for (auto said = sources_.lower_bound({op.id, KeyId{0}});
       said != sources_.end() && said->first.first == op.id; ++said) {
    const KeyId key = said->first.second;
    const auto rows = history_.rows(read);
    const bool told = std::any_of(rows.begin(), rows.end(),
                                  [&](const KeyVersion& row) { return row.key == key; });
    if (told) continue;
    const TxnId writer = said->second;
    out_.txns[index].reads.push_back({op.id, key, writer == kInitialTxn ? 0 : index_.at(writer)});
    out_.txns[index].reads.back().absence = true;
    if (writer == kInitialTxn) {
      match(key, history_.initial(key), false);
      continue;
    }
    Op last;
    for (OpId id = history_.first_op(writer); id < history_.end_op(writer); ++id.value) {
      if (is_write(history_.op(id).kind) && history_.op(id).key == key) last = history_.op(id);
    }
    match(key, last.value, last.kind == OpKind::Delete);
  }
  if (op.kind == OpKind::Aggregate) {
    if (!is_aggregate(history_, read, matching)) note(AnomalyKind::ResultSetMismatch);
    return;
  }
  for (const KeyVersion& row : matching) {
    const auto rows = history_.rows(read);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) {
      note(AnomalyKind::ResultSetMismatch);
    }
  }
}

// Whether a version is there, and no tombstone.
bool Observer::is_row(KeyId key, Value value) const {
  for (std::size_t i = 0; i < history_.op_count(); ++i) {
    const Op op = history_.op(OpId{i});
    if (op.kind == OpKind::Delete && op.key == key && op.value == value) return false;
  }
  return !value.is_null();
}

// What a version set has of a key: a version, or nothing.
Value Observer::listed_value(const PredicateRead& read, KeyId key) const {
  Value value = Value::null();
  for (const KeyVersion& version : history_.version_set(read)) {
    if (version.key == key) value = version.value;
  }
  return value;
}

// Whether a row is one that the read asks for.
bool Observer::selects(const Op& op, const KeyVersion& row) const {
  const PredicateRead& read = history_.predicate_read(op.id);
  if (op.kind != OpKind::Scan) {
    return truth_of(history_, read.predicate, row.key, row.value) == true;
  }
  return in_range(history_, read, row.key);
}

void Observer::note(const Source& source) {
  if (source.kind == Source::Own) note(AnomalyKind::FutureRead);
  if (source.kind == Source::Aborted) note(AnomalyKind::AbortedRead);
  if (source.kind == Source::Nobody) note(AnomalyKind::ThinAirRead);
}

void Observer::read_register(std::size_t index, const Op& op, const std::optional<Value>& own) {
  if (own.has_value()) {
    if (op.value != *own) note(AnomalyKind::Internal);
    return;
  }
  if (not_read_[{index, op.key}].contains(op.value)) note(AnomalyKind::NonRepeatableRead);
  const auto [first, is_first] = first_read_.try_emplace({index, op.key}, op.value);
  if (!is_first && first->second != op.value) note(AnomalyKind::NonRepeatableRead);
  const Source from = source(op.id, op.key, op.value);
  note(from);
  if (from.kind == Source::Initial) out_.txns[index].reads.push_back({op.id, op.key, 0});
  if (from.kind != Source::Other) return;
  if (!is_last_write(from.txn, op.key, op.value)) note(AnomalyKind::IntermediateRead);
  out_.txns[index].reads.push_back({op.id, op.key, index_.at(from.txn)});
}

void Observer::fail_cas(std::size_t index, const Op& op, const std::optional<Value>& own) {
  if (own.has_value()) {
    if (op.value == *own) note(AnomalyKind::Internal);
    return;
  }
  const auto said = sources_.find({op.id, op.key});
  if (said == sources_.end()) {
    const auto first = first_read_.find({index, op.key});
    if (first != first_read_.end() && first->second == op.value) {
      note(AnomalyKind::NonRepeatableRead);
    }
    not_read_[{index, op.key}].insert(op.value);
    if (possible_sources(history_, op).empty()) note(AnomalyKind::ThinAirRead);
    return;
  }
  const bool initial = said->second == kInitialTxn;
  const std::size_t from = initial ? 0 : index_.at(said->second);
  const Value value = initial ? history_.initial(op.key) : out_.txns[from].writes.at(op.key).back();
  const auto [first, is_first] = first_read_.try_emplace({index, op.key}, value);
  if (!is_first && first->second != value) note(AnomalyKind::NonRepeatableRead);
  out_.txns[index].reads.push_back({op.id, op.key, from});
}

// The reader's own appends must come last; what is before them it read from others.
void Observer::read_list(std::size_t index, const Op& op, std::size_t own_count) {
  CountedTxn& reader = out_.txns[index];
  const std::vector<Value> list = elements(op.value);
  std::size_t own = 0;
  const auto known = known_.find({index, op.key});
  if (own_count > 0) {
    const std::vector<Value>& written = reader.writes.at(op.key);
    const bool ends_with_own =
        list.size() >= own_count &&
        std::equal(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(own_count),
                   list.end() - static_cast<std::ptrdiff_t>(own_count));
    const bool as_before = known == known_.end() || known->second == list;
    if (!ends_with_own || !as_before) note(AnomalyKind::Internal);
    if (ends_with_own) own = own_count;
  } else if (known != known_.end() && known->second != list) {
    note(AnomalyKind::NonRepeatableRead);
  }
  known_[{index, op.key}] = list;
  out_.list_reads.push_back({op.key, index, list, own});

  if (std::set<Value>(list.begin(), list.end()).size() != list.size()) {
    note(AnomalyKind::DuplicateElements);
  }
  Source last{Source::Initial, {}};
  for (std::size_t i = 0; i + own < list.size(); ++i) {
    last = source(op.id, op.key, list[i]);
    note(last);
  }
  if (last.kind == Source::Initial) reader.reads.push_back({op.id, op.key, 0});
  if (last.kind != Source::Other) return;
  if (!is_last_write(last.txn, op.key, list[list.size() - own - 1])) {
    note(AnomalyKind::IntermediateRead);
  }
  reader.reads.push_back({op.id, op.key, index_.at(last.txn)});
}

void Observer::compare_list_reads() {
  for (const ListRead& a : out_.list_reads) {
    for (const ListRead& b : out_.list_reads) {
      if (a.key != b.key || a.elements.size() > b.elements.size()) continue;
      if (!std::equal(a.elements.begin(), a.elements.end(), b.elements.begin())) {
        note(AnomalyKind::IncompatibleOrder);
      }
    }
  }
}

}  // namespace

bool Observed::always_wrong() const {
  return std::any_of(anomalies.begin(), anomalies.end(),
                     [](AnomalyKind kind) { return kind != AnomalyKind::NonRepeatableRead; });
}

Observed observe(const History& history, Evidence evidence, const Sources& sources) {
  return Observer(history, evidence, sources).take();
}

bool any_sources(const History& history, Evidence evidence,
                 const std::function<bool(const Sources&)>& visit) {
  std::set<KeyId> lists;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (op.kind == OpKind::Append || op.value.is_list()) lists.insert(op.key);
  }
  std::vector<std::pair<std::pair<OpId, KeyId>, std::vector<TxnId>>> open;
  std::set<KeyId> written;
  const auto look_at = [&](const Op& read) {
    if (written.contains(read.key) || lists.contains(read.key)) return;
    auto possible = possible_sources(history, read);
    const bool is_open = possible.size() > (read.kind == OpKind::CasFailed ? 0u : 1u);
    if (is_open) open.push_back({{read.id, read.key}, std::move(possible)});
  };
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    written.clear();
    if (history.status(TxnId{t}) == TxnStatus::Aborted) continue;
    for (OpId id = history.first_op(TxnId{t}); id < history.end_op(TxnId{t}); ++id.value) {
      const Op op = history.op(id);
      if (is_write(op.kind)) written.insert(op.key);
      const bool plain = is_read(op.kind) || op.kind == OpKind::CasFailed;
      if (plain && !op.value.is_unobserved()) look_at(op);
      if (!is_predicate_read(op.kind)) continue;
      std::set<KeyId> told = written;
      const PredicateRead& read = history.predicate_read(id);
      const bool misses = op.kind == OpKind::Scan && !read.has_version_set;
      for (const KeyVersion& row : history.rows(read)) {
        if (misses && row.value.is_null()) continue;
        look_at({id, OpKind::Read, row.key, row.value});
        told.insert(row.key);
      }
      for (std::size_t k = 0; misses && k < history.key_count(); ++k) {
        const KeyId key{k};
        if (told.contains(key) || lists.contains(key) || !in_range(history, read, key)) continue;
        auto from = absences(history, TxnId{t}, key);
        if (!from.empty()) open.push_back({{id, key}, std::move(from)});
      }
      if (op.kind == OpKind::Scan || evidence != Evidence::Observed) continue;
      for (std::size_t k = 0; k < history.key_count(); ++k) {
        if (told.contains(KeyId{k}) || lists.contains(KeyId{k})) continue;
        open.push_back({{id, KeyId{k}}, all_versions(history, TxnId{t}, KeyId{k})});
      }
    }
  }
  std::vector<std::size_t> chosen(open.size(), 0);
  for (;;) {
    Sources sources;
    for (std::size_t i = 0; i < open.size(); ++i) {
      sources[open[i].first] = open[i].second[chosen[i]];
    }
    if (visit(sources)) return true;
    std::size_t i = 0;
    while (i < open.size() && ++chosen[i] == open[i].second.size()) chosen[i++] = 0;
    if (i == open.size()) return false;
  }
}

}  // namespace ouro::oracle
