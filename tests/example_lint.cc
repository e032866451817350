// The examples of include/ouro/lint.h and include/ouro/stats.h.
#include <iostream>

#include "ouro/generate.h"
#include "ouro/lint.h"
#include "ouro/stats.h"

int main() {
  ouro::GenerateOptions options;
  options.unknown_share = 0.1;
  const ouro::History history = *ouro::generate(options);
  for (const ouro::Finding& finding : ouro::lint(history))
    std::cout << finding.rule->id << ": " << finding.count << '\n';
  const ouro::Stats stats = ouro::count(history);
  std::cout << stats.txns << " transactions in " << stats.sessions << " sessions\n";
  return ouro::lint(history).empty() ? 1 : 0;
}
