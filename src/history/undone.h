// What operations see of the writes of their own transaction, also of those that were undone again.
// certify/ has its own.
#pragma once

#include <vector>

#include "ouro/history.h"

namespace ouro {

// Whether `read`, which is behind `write` in the same transaction, sees that as an own write: it
// was not undone, or not yet.
[[nodiscard]] inline bool is_own_write(const History& history, const Op& write, OpId read) {
  return is_write(write.kind) || (is_undone(write.kind) && history.still_holds(write.id, read));
}
// The same, if its key is a register.
[[nodiscard]] inline bool is_own_row(const History& history, const Op& write, OpId read) {
  return is_own_write(history, write, read) && info(write.kind).model == KeyModel::Register;
}
// Whether a write, undone or not, leaves a row. REQUIRES: its key is a register.
[[nodiscard]] inline bool leaves_own_row(const Op& write) {
  return write.kind != OpKind::UndoneDelete && !info(write.kind).deletes && !write.value.is_null();
}

// The undone write that `read`, a ReadBack of `txn`, sees: the last one of its key before it that
// was not undone yet.
[[nodiscard]] inline OpId undone_write_seen(const History& history, TxnId txn, OpId read) {
  for (OpId id = read; id > history.first_op(txn);) {
    const Op op = history.op(OpId{--id.value});
    if (op.key != history.op(read).key || !is_undone(op.kind)) continue;
    if (history.still_holds(id, read)) return id;
  }
  return OpId{};
}

// What `read`, a list read within an undone part, returned behind its value: the appends of the
// part that it saw (HistoryBuilder::read_list()).
[[nodiscard]] inline std::vector<Value> undone_appends_seen(const History& history, OpId read) {
  std::vector<Value> out;
  if (history.undone_part(read) == 0 || !is_read(history.op(read).kind)) return out;
  const OpId first = history.first_op(history.txn_of(read));
  for (OpId id = read; id > first && history.undone_part(OpId{id.index() - 1}) != 0;) {
    const Op op = history.op(OpId{--id.value});
    const bool seen = op.kind == OpKind::UndoneAppend && op.key == history.op(read).key;
    if (seen && history.still_holds(id, read)) out.insert(out.begin(), op.value);
  }
  return out;
}

// The write that a ReadBack contradicts; invalid if there is none. A list read that agrees with the
// appends before it is no ReadBack (HistoryBuilder::read_list), so here all of them are wrong.
[[nodiscard]] inline OpId contradicted_undone_write(const History& history, TxnId txn, OpId read) {
  const Op op = history.op(read);
  if (!info(op.kind).back || op.value.is_unobserved()) return OpId{};
  const OpId write = undone_write_seen(history, txn, read);
  const bool same = write.valid() && history.op(write).kind != OpKind::UndoneAppend &&
                    history.op(write).value == op.value;
  return same ? OpId{} : write;
}

}  // namespace ouro
