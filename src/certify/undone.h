// What parts of transactions wrote and undid again, by a rollback to a savepoint. The engines have
// rules of their own.
#pragma once

#include <algorithm>
#include <vector>

#include "ouro/history.h"

namespace ouro::recheck {

[[nodiscard]] inline bool undoes(OpKind kind) {
  return kind == OpKind::UndoneWrite || kind == OpKind::UndoneDelete ||
         kind == OpKind::UndoneAppend;
}

// Whether a read sees a write of its own transaction before it: one that was not undone, or one
// that was undone only behind the read, with the part that both are in.
[[nodiscard]] inline bool sees_own(const History& history, const Op& write, OpId read) {
  if (!undoes(write.kind)) return ouro::is_write(write.kind);
  const std::uint32_t wanted = history.undone_part(write.id);
  auto part = history.undone_part(read);
  while (part != 0 && part != wanted) part = history.outer_part(part);
  return part != 0;
}

// The last write of `key` that a read of its own transaction sees, if that was undone later;
// otherwise nothing.
[[nodiscard]] inline OpId undone_own(const History& history, OpId read, KeyId key) {
  if (history.undone_part(read) == 0) return OpId{};
  for (OpId id = read; id > history.first_op(history.txn_of(read));) {
    const Op op = history.op(OpId{--id.value});
    if (op.key == key && undoes(op.kind) && sees_own(history, op, read)) return id;
  }
  return OpId{};
}

// A read of what was undone later must return the last write of its part, or of the parts around
// it, before it. Returns that write if it does not; otherwise, and for all other operations,
// nothing. A list that ends with what was appended is recorded as a plain read of the rest.
[[nodiscard]] inline OpId contradicted_write(const History& history, TxnId txn, OpId id) {
  const Op read = history.op(id);
  if (read.kind != OpKind::ReadBack || read.value.is_unobserved()) return OpId{};
  std::vector<std::uint32_t> around;
  for (auto part = history.undone_part(id); part != 0; part = history.outer_part(part)) {
    around.push_back(part);
  }
  for (OpId before = id; before > history.first_op(txn);) {
    const Op op = history.op(OpId{--before.value});
    if (!undoes(op.kind) || op.key != read.key) continue;
    if (std::find(around.begin(), around.end(), history.undone_part(before)) == around.end())
      continue;
    return op.kind != OpKind::UndoneAppend && op.value == read.value ? OpId{} : before;
  }
  return OpId{};
}

}  // namespace ouro::recheck
