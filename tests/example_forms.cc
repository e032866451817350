// The example of include/ouro/forms.h.
#include <filesystem>
#include <fstream>
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
  const auto found = ouro::examine(*history, {.levels = {ouro::Level::Si}});
  if (!found.ok()) return fail(found.error());
  ouro::HtmlReport page;
  page.add({.name = "the bank",
            .history = &*history,
            .verdicts = found->verdicts,
            .explanations = found->explanations});
  std::ofstream("bank.html") << page.finish();
  std::cout << ouro::to_dot(*history, found->explanations);
  std::filesystem::remove("bank.html");
  return ouro::outcome(*found) == ouro::Outcome::Violated ? 0 : 1;
}
