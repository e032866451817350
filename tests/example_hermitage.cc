// The example of include/ouro/hermitage.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <cassert>
#include <cstdio>
#include <iostream>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::fputs(error.to_string().c_str(), stderr);
  return 1;
}

}  // namespace

int main() {
  const auto report = ouro::hermitage({.url = "sim:read-committed"});
  if (!report.ok()) return fail(report.error());
  std::cout << ouro::describe(*report);
  assert(report->rows.size() == 1 && !report->rows[0].broken());
}
