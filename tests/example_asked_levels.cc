// The example of include/ouro/asked_levels.h.
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
  const auto asked = ouro::parse_levels("si,causal", ouro::Evidence::Observed);
  if (!asked.ok()) return fail(asked.error());
  const auto examination = ouro::examine(*history, {.levels = asked->levels});
  if (!examination.ok()) return fail(examination.error());
  std::cout << ouro::describe(*history, *examination, {.name = "the bank"});
  return ouro::outcome(*examination) == ouro::Outcome::Violated ? 0 : 1;
}
