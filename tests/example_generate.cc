// The example of include/ouro/generate.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <cassert>

#include "ouro/generate.h"

int main() {
  ouro::GenerateOptions options;
  options.store = ouro::Level::Si;
  options.txns = 1000;
  const ouro::History history = *ouro::generate(options);
  assert(history.txn_count() == 1000);
}
