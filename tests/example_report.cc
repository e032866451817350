// The example of include/ouro/report.h.
#include <iostream>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto history = ouro::read_history("tests/data/demo/fractured_read.jsonl");
  if (!history.ok()) return fail(history.error());
  const auto verdict = ouro::check(*history, ouro::Level::ReadAtomic);
  if (!verdict.ok()) return fail(verdict.error());
  const ouro::Explanation explanation = ouro::explain(*history, *verdict);
  ouro::ReportOptions options{.name = "the bank", .explanations = {&explanation, 1}};
  std::cout << ouro::describe(*history, *verdict, options);
  return verdict->outcome == ouro::Outcome::Violated ? 0 : 1;
}
