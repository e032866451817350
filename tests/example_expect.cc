// The example of include/ouro/expect.h.
#include <iostream>

#include "ouro/expect.h"
#include "ouro/format.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto expected = ouro::parse_expectation("serializable violated\nshows lost-update\n");
  if (!expected.ok()) return fail(expected.error());
  const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
  if (!history.ok()) return fail(history.error());
  const auto verdict = ouro::check(*history, ouro::Level::Serializable);
  if (!verdict.ok()) return fail(verdict.error());
  const ouro::Explanation explanation = ouro::explain(*history, *verdict);
  const auto met = ouro::judge(*expected, {&*verdict, 1}, {&explanation, 1});
  std::cout << (met.outcome == ouro::Outcome::Holds ? "as expected\n" : met.complaints[0] + "\n");
  return met.outcome == ouro::Outcome::Holds ? 0 : 1;
}
