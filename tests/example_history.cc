// The example of include/ouro/history.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <cassert>
#include <utility>

#include "ouro/history_builder.h"

int main() {
  ouro::HistoryBuilder builder;
  const ouro::KeyId x = builder.key("x");
  builder.begin_txn(builder.session("alice"));
  builder.read(x, ouro::Value::null());
  builder.write(x, builder.integer(1));
  const ouro::History history = *std::move(builder).freeze();
  assert(history.txn_count() == 1 && history.op_count() == 2);
}
