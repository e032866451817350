// Builds a history by hand with the installed library and asks it a few questions.

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "ouro/ouro.h"

int main() {
  ouro::HistoryBuilder builder;
  const ouro::KeyId stock = builder.key("stock");
  builder.begin_txn(builder.session("clerk 1"));
  builder.read(stock, ouro::Value::null());
  builder.write(stock, builder.integer(9));
  builder.begin_txn(builder.session("clerk 2"));
  builder.read(stock, builder.integer(9));
  builder.write(stock, builder.text("sold out"));
  const ouro::Result<ouro::History> history = std::move(builder).freeze();
  if (!history.ok()) {
    std::printf("%s\n", history.error().to_string().c_str());
    return 1;
  }

  const std::optional<ouro::Level> level = ouro::find_level("rc");
  if (!level || history->txn_count() != 2 || history->op_count() != 4) return 1;
  const std::string last = history->text(history->op(ouro::OpId{3}).value);
  std::printf("%zu transactions, last value %s, weakest level %s\n", history->txn_count(),
              last.c_str(), std::string(ouro::info(*level).name).c_str());
  return last == "\"sold out\"" && ouro::implies(ouro::Level::Causal, *level) ? 0 : 1;
}
