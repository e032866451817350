// The example of include/ouro/generate.h.
#undef NDEBUG
#include "ouro/generate.h"

#include <cassert>

int main() {
  ouro::GenerateOptions options;
  options.store = ouro::Level::Si;
  options.txns = 1000;
  const ouro::History history = *ouro::generate(options);
  assert(history.txn_count() == 1000);
  return 0;
}
