#include "workload/recorder.h"

#include <string>
#include <utility>

namespace ouro::workload {

Recorder::Recorder(const GenerateOptions& options)
    : lists_(info(options.workload).lists),
      clocks_(options.clocks),
      timestamps_(options.timestamps),
      version_orders_(options.version_orders),
      duplicates_(options.duplicates),
      key_id_(options.keys),
      session_id_(options.sessions) {}

KeyId Recorder::key(std::uint32_t key) {
  if (key >= key_id_.size()) key_id_.resize(key + std::size_t{1});
  if (!key_id_[key].valid()) key_id_[key] = builder_.key(std::int64_t{key});
  return key_id_[key];
}

// What is recorded of a value that the store uses once for a key.
Value Recorder::value(std::uint32_t key, std::uint32_t unique) const {
  constexpr std::uint32_t kDifferent = 7;
  if (unique == 0 || tombstones_.contains({key, unique})) return Value::null();
  return Value::small(duplicates_ ? (unique - 1) % kDifferent + 1 : unique);
}

// Gives the transaction that was begun last a name by which version orders can name what it wrote.
void Recorder::name_txn(const OpenTxn& txn) {
  const Value name = builder_.text("t" + std::to_string(builder_.txn_count()));
  builder_.name(name);
  for (const DoneOp& op : txn.ops) {
    if (is_write(op.kind)) writer_[{op.key, op.value}] = name;
  }
}

void Recorder::add(const OpenTxn& txn, TxnStatus status, bool applied, std::int64_t completed,
                   const Versions& versions) {
  SessionId& session = session_id_[txn.session];
  if (!session.valid()) session = builder_.session(std::int64_t{txn.session});
  builder_.begin_txn(session);
  if (status != TxnStatus::Committed) builder_.status(status);
  if (clocks_) {
    builder_.clocks(txn.invoked, status == TxnStatus::Unknown ? kNoClock : completed);
  }
  if (timestamps_) {
    builder_.timestamps({txn.start, 0}, applied ? Timestamp{txn.commit, 0} : kNoTimestamp);
  }
  if (duplicates_ && version_orders_) name_txn(txn);
  for (std::size_t i = 0; i < txn.ops.size(); ++i) {
    if (txn.ops[i].kind == OpKind::Scan) {
      add_scan(&txn.ops[i]);
      i += txn.ops[i].own;
    } else {
      add_op(txn, txn.ops[i], versions);
    }
  }
}

// The operations behind the scan are the reads of what it found (see DoneOp::own).
void Recorder::add_scan(const DoneOp* scan) {
  rows_.clear();
  for (const DoneOp* found = scan + 1; found <= scan + scan->own; ++found) {
    const Value row = value(found->key, found->value);
    if (!row.is_null()) rows_.push_back({key(found->key), row});
  }
  builder_.scan(Value::small(scan->key), Value::small(scan->value),
                {.rows = rows_, .version_set = {}});
}

void Recorder::add_op(const OpenTxn& txn, const DoneOp& op, const Versions& versions) {
  const KeyId id = key(op.key);
  if (is_write(op.kind)) {
    if (duplicates_ && op.kind == OpKind::Delete) tombstones_.insert({op.key, op.value});
    builder_.add(op.kind, id, value(op.key, op.value));
  } else if (!lists_) {
    builder_.read(id, value(op.key, op.value));
  } else {
    scratch_.clear();
    for (const Version& element : versions.of(op.key).first(op.value)) {
      scratch_.push_back(value(op.key, element.value));
    }
    std::uint32_t own = op.own;
    for (const PendingWrite& write : txn.writes) {
      if (own == 0) break;
      if (write.key != op.key) continue;
      scratch_.push_back(value(op.key, write.value));
      --own;
    }
    for (const std::uint32_t element : op.planted) {
      if (element != 0) scratch_.push_back(value(op.key, element));
    }
    builder_.read_list(id, scratch_);
  }
}

// The versions of a key, each named by its transaction, of which only the last one counts.
void Recorder::add_named_order(std::uint32_t key, std::span<const Version> versions) {
  std::vector<HistoryBuilder::NamedVersion> named;
  for (const Version& version : versions) {
    const Value name = writer_.at({key, version.value});
    if (named.empty() || named.back().name != name) named.push_back({Value::null(), name});
  }
  builder_.version_order(key_id_[key], named, true);
}

Result<History> Recorder::finish(const Versions& versions) && {
  if (version_orders_) {
    // Keys that no transaction used are not part of the history.
    for (std::uint32_t key = 0; key < key_id_.size(); ++key) {
      if (!key_id_[key].valid()) continue;
      if (duplicates_) {
        add_named_order(key, versions.of(key));
        continue;
      }
      scratch_.clear();
      for (const Version& version : versions.of(key)) {
        scratch_.push_back(Value::small(version.value));
      }
      builder_.version_order(key_id_[key], scratch_, true);
    }
  }
  return std::move(builder_).freeze();
}

}  // namespace ouro::workload
