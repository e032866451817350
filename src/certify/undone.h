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
