// The example of ouro/check_pieces.h.

#include <iostream>

#include "ouro/check_pieces.h"
#include "ouro/report.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto checked =
      ouro::check_pieces("tests/data/stream/timeline.jsonl", {.level = ouro::Level::SessionSi});
  if (!checked.ok()) return fail(checked.error());
  std::cout << ouro::headline(checked->history, checked->verdict) << "\n";
}
