#include "workload/recorder.h"

#include <utility>

namespace ouro::workload {

Recorder::Recorder(const GenerateOptions& options)
    : lists_(info(options.workload).lists),
      clocks_(options.clocks),
      timestamps_(options.timestamps),
      version_orders_(options.version_orders),
      key_id_(options.keys),
      session_id_(options.sessions) {}

KeyId Recorder::key(std::uint32_t key) {
  if (key >= key_id_.size()) key_id_.resize(key + std::size_t{1});
  if (!key_id_[key].valid()) key_id_[key] = builder_.key(std::int64_t{key});
  return key_id_[key];
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
    rows_.push_back({key(found->key), Value::small(found->value)});
  }
  builder_.scan(Value::small(scan->key), Value::small(scan->value),
                {.rows = rows_, .version_set = {}});
}

void Recorder::add_op(const OpenTxn& txn, const DoneOp& op, const Versions& versions) {
  const KeyId id = key(op.key);
  if (is_write(op.kind)) {
    builder_.add(op.kind, id, Value::small(op.value));
  } else if (!lists_) {
    builder_.read(id, op.value == 0 ? Value::null() : Value::small(op.value));
  } else {
    scratch_.clear();
    for (const Version& element : versions.of(op.key).first(op.value)) {
      scratch_.push_back(Value::small(element.value));
    }
    std::uint32_t own = op.own;
    for (const PendingWrite& write : txn.writes) {
      if (own == 0) break;
      if (write.key != op.key) continue;
      scratch_.push_back(Value::small(write.value));
      --own;
    }
    for (const std::uint32_t element : op.planted) {
      if (element != 0) scratch_.push_back(Value::small(element));
    }
    builder_.read_list(id, scratch_);
  }
}

Result<History> Recorder::finish(const Versions& versions) && {
  if (version_orders_) {
    // Keys that no transaction used are not part of the history.
    for (std::uint32_t key = 0; key < key_id_.size(); ++key) {
      if (!key_id_[key].valid()) continue;
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
