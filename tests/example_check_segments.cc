// The example of ouro/check_segments.h.

#include <iostream>

#include "ouro/check_segments.h"
#include "ouro/report.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto checked = ouro::check_segments("tests/data/stream/quiet.jsonl",
                                            {.level = ouro::Level::StrictSerializable});
  if (!checked.ok()) return fail(checked.error());
  std::cout << ouro::headline(checked->history, checked->verdict) << "\n";
}
