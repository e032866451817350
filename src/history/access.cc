#include "history/access.h"

namespace ouro {

std::vector<bool> list_keys(const History& history) {
  std::vector<bool> lists(history.key_count(), false);
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    const Op op = history.op(OpId{i});
    if (is_predicate_read(op.kind)) {
      for (const KeyVersion& row : history.rows(history.predicate_read(op.id))) {
        if (row.value.is_list()) lists[row.key.index()] = true;
      }
    } else if (shows_list(op.kind, op.value)) {
      lists[op.key.index()] = true;
    }
  }
  return lists;
}

bool has_conditions(const History& history) {
  if (!history.has_predicate_reads()) return false;
  for (std::size_t i = 0; i < history.op_count(); ++i) {
    if (has_condition(history.op(OpId{i}).kind)) return true;
  }
  return false;
}

}  // namespace ouro
