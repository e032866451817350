// The example of include/ouro/elle.h.
#include <iostream>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  ouro::RecordedLines lines;
  const auto history = ouro::read_history("tests/data/elle-cli/rw-register.edn", {}, lines);
  if (!history.ok()) return fail(history.error());
  const auto found = ouro::examine(*history, {.levels = {ouro::Level::Serializable}});
  if (!found.ok()) return fail(found.error());
  std::cout << ouro::to_edn(*history, {.verdicts = found->verdicts,
                                       .explanations = found->explanations,
                                       .others = found->others,
                                       .lines = &lines})
            << '\n';
  return ouro::outcome(*found) == ouro::Outcome::Violated ? 0 : 1;
}
