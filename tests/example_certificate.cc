// The example of include/ouro/certificate.h.
#include <iostream>

#include "ouro/certificate.h"
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
  const auto verdict = ouro::check(*history, ouro::Level::Si);
  if (!verdict.ok()) return fail(verdict.error());
  const auto certificate = ouro::make_certificate(*history, *verdict);
  const auto checked = ouro::certify(*history, certificate);
  if (!checked.ok()) return fail(checked.error());
  std::cout << (checked->accepted ? "accepted\n" : checked->reason + "\n");
  return checked->accepted ? 0 : 1;
}
