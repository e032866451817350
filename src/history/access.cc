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

}  // namespace ouro
