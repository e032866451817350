// The example of include/ouro/predicate.h.
#include <iostream>

#include "ouro/ouro.h"

int main() {
  // [["select", {"eq": ["on_call", true]}, []]]
  ouro::HistoryBuilder builder;
  builder.begin_txn(builder.session("alice"));
  const ouro::Value wanted[] = {ouro::Value::boolean(true)};
  const ouro::ColumnId column = builder.column("on_call");
  builder.select(builder.compare(ouro::PredicateKind::Eq, column, wanted), {});
  const ouro::History history = *std::move(builder).freeze();
  const ouro::PredicateRead& read = history.predicate_read(ouro::OpId{0});
  const ouro::PredicateNode& node = history.predicate(read.predicate);
  std::cout << history.column_name(node.column) << ' ' << ouro::info(node.kind).word << ' '
            << history.text(history.operands(node).front()) << '\n';
  return history.text(history.operands(node).front()) == "true" ? 0 : 1;
}
