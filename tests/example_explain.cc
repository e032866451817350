// The example of include/ouro/explain.h.
#include <iostream>

#include "ouro/explain.h"
#include "ouro/format.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

#undef NDEBUG
#include <cassert>

int main() {
  const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
  if (!history.ok()) return fail(history.error());
  const auto verdict = ouro::check(*history, ouro::Level::Si);
  if (!verdict.ok()) return fail(verdict.error());
  for (const ouro::Story& story : ouro::explain(*history, *verdict).stories) {
    std::cout << ouro::name(story) << ", " << story.txns.size() << " transactions\n";
    const ouro::History counterexample = ouro::counterexample(*history, story);
    assert(ouro::check(counterexample, story.level)->outcome == ouro::Outcome::Violated);
  }
  return verdict->outcome == ouro::Outcome::Violated ? 0 : 1;
}
