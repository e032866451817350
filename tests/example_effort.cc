// The example of include/ouro/effort.h.
#include <iostream>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
  if (!history.ok()) return fail(history.error());
  ouro::Effort effort;
  const auto verdict = ouro::check(*history, ouro::Level::Si, {.effort = &effort});
  if (!verdict.ok()) return fail(verdict.error());
  std::cout << effort.search.conflicts << " conflicts, "
            << effort.seconds_of(ouro::Stage::Search) << " s\n";
  return effort.seconds_of(ouro::Stage::Join) > 0 ? 0 : 1;
}
