// The example of include/ouro/search_options.h.
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
  const auto search = ouro::parse_search_options("no-chains,branching=activity");
  if (!search.ok()) return fail(search.error());
  const auto verdict = ouro::check(*history, ouro::Level::SessionSi, {.search = *search});
  if (!verdict.ok()) return fail(verdict.error());
  std::cout << ouro::describe(*history, *verdict);
  return verdict->outcome == ouro::Outcome::Violated ? 0 : 1;
}
