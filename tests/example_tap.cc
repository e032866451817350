// The example of include/ouro/tap.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <iostream>

#include "ouro/ouro.h"

namespace {

// No server listens at this port.
int fail(const ouro::Error& error) {
  std::fputs(error.to_string().c_str(), stderr);
  std::remove("shop.jsonl");
  assert(!error.what.empty());
  return 0;
}

}  // namespace

int main() {
  std::atomic<bool> stop{false};
  ouro::TapOptions options;
  options.url = "postgres://shop@127.0.0.1:1/shop";
  options.listen = "127.0.0.1:0";
  options.history = "shop.jsonl";
  options.stop = &stop;
  options.ready = [](const std::string& at) { std::cout << "connect to " << at << '\n'; };
  const auto report = ouro::tap(options);
  if (!report.ok()) return fail(report.error());
  std::cout << ouro::describe(*report);
  assert(false);
}
