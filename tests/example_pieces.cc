// The example of ouro/pieces.h.

#include <iostream>

#include "ouro/pieces.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  auto pieces = ouro::HistoryPieces::open("tests/data/demo/lost_update.jsonl");
  if (!pieces.ok()) return fail(pieces.error());
  for (;;) {
    const auto piece = pieces->next();
    if (!piece.ok()) return fail(piece.error());
    if (*piece == nullptr) break;
    std::cout << (*piece)->txn_count() << " transactions\n";
  }
}
