// The example of include/ouro/format.h.

#include <iostream>

#include "ouro/format.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
  if (!history.ok()) return fail(history.error());
  std::cout << history->txn_count() << " transactions\n";
  return history->txn_count() == 4 ? 0 : 1;
}
