// The example of include/ouro/run.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <cassert>
#include <cstdio>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::fputs(error.to_string().c_str(), stderr);
  return 1;
}

}  // namespace

int main() {
  ouro::RunOptions options;
  options.url = "sim:si";
  options.history = "run.jsonl";
  options.seconds = 0;
  options.txns = 1000;
  const auto report = ouro::run(options);
  if (!report.ok()) return fail(report.error());
  const auto history = ouro::read_history(options.history);
  const auto verdict = ouro::check(*history, report->claims);
  std::remove("run.jsonl");
  assert(history->txn_count() == 1000);
  assert(verdict.ok() && verdict->outcome == ouro::Outcome::Holds);
}
