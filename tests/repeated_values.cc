#include "tests/repeated_values.h"

#include <absl/container/flat_hash_set.h>

#include <utility>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro {
namespace {

class Repeating {
 public:
  Repeating(const History& history, const Repeats& repeats) : h_(history), repeats_(repeats) {
    for (std::size_t i = 0; i < h_.op_count() && repeats_.plain_deletes; ++i) {
      const Op op = h_.op(OpId{i});
      if (op.kind == OpKind::Delete) tombstones_.insert({op.key, op.value});
    }
  }

  History run() {
    for (std::size_t t = 0; t < h_.txn_count(); ++t) add(TxnId{t});
    return *std::move(builder_).freeze();
  }

 private:
  void add(TxnId txn) {
    builder_.begin_txn(builder_.session(h_.session_name(h_.session(txn))));
    builder_.status(h_.status(txn));
    if (h_.invoked(txn) && h_.completed(txn)) {
      builder_.clocks(*h_.invoked(txn), *h_.completed(txn));
    }
    if (h_.start_ts(txn) && h_.commit_ts(txn)) {
      builder_.timestamps(*h_.start_ts(txn), *h_.commit_ts(txn));
    }
    for (OpId id = h_.first_op(txn); id < h_.end_op(txn); ++id.value) add(h_.op(id));
  }

  void add(const Op& op) {
    if (op.kind == OpKind::Scan) {
      std::vector<KeyVersion> rows;
      for (const KeyVersion& row : h_.rows(h_.predicate_read(op.id))) {
        const Value value = repeated(row.key, row.value);
        if (!value.is_null()) rows.push_back({builder_.key(h_.key_name(row.key)), value});
      }
      const PredicateRead& read = h_.predicate_read(op.id);
      builder_.scan(read.lower, read.upper, {.rows = rows});
      return;
    }
    const KeyId key = builder_.key(h_.key_name(op.key));
    if (op.kind == OpKind::Append) {
      builder_.append(key, op.value);
    } else if (op.value.is_list()) {
      builder_.read_list(key, h_.list(op.value));
    } else if (op.kind == OpKind::Read) {
      builder_.read(key, repeated(op.key, op.value));
    } else if (op.kind == OpKind::Delete) {
      builder_.remove(key, repeated(op.key, op.value));
    } else {
      builder_.write(key, repeated(op.key, op.value));
    }
  }

  [[nodiscard]] Value repeated(KeyId key, Value value) {
    if (value.kind() != ValueKind::Integer) return value;
    if (tombstones_.contains({key, value})) return Value::null();
    // A multiplier that spreads neighbours.
    const std::uint64_t mixed = static_cast<std::uint64_t>(value.number()) * 0x9e3779b97f4a7c15u;
    return builder_.integer(static_cast<std::int64_t>((mixed >> 32) % repeats_.distinct) + 1);
  }

  const History& h_;
  const Repeats repeats_;
  absl::flat_hash_set<std::pair<KeyId, Value>> tombstones_;
  HistoryBuilder builder_;
};

}  // namespace

History with_repeats(const History& history, const Repeats& repeats) {
  return Repeating(history, repeats).run();
}

}  // namespace ouro
