#include "strong/by_session.h"

#include <utility>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::bench {

History by_session(const History& history) {
  HistoryBuilder builder;
  builder.default_initial(history.default_initial());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const SessionId session = builder.session(history.session_name(SessionId{s}));
    for (const TxnId txn : history.session_txns(SessionId{s})) {
      builder.begin_txn(session);
      builder.status(history.status(txn));
      for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
        const Op op = history.op(id);
        const KeyId key = builder.key(history.key_name(op.key));
        if (op.kind == OpKind::Write) {
          builder.write(key, op.value);
        } else if (op.kind == OpKind::Delete) {
          builder.remove(key, op.value);
        } else if (op.kind == OpKind::Append) {
          builder.append(key, op.value);
        } else if (op.value.is_list()) {
          const auto list = history.list(op.value);
          builder.read_list(key, std::vector<Value>(list.begin(), list.end()));
        } else {
          builder.read(key, op.value);
        }
      }
    }
  }
  for (const VersionOrder& order : history.version_orders()) {
    builder.version_order(builder.key(history.key_name(order.key)), history.versions(order),
                          order.complete);
  }
  return *std::move(builder).freeze();
}

}  // namespace ouro::bench
