// The example of include/ouro/examine.h.
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
  const auto examination = ouro::examine(*history, {.levels = {ouro::Level::Serializable}});
  if (!examination.ok()) return fail(examination.error());
  std::cout << ouro::describe(*history, *examination, {.name = "the bank"});
  return ouro::outcome(*examination) == ouro::Outcome::Violated ? 0 : 1;
}
