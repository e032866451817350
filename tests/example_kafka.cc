// The example of include/ouro/kafka.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <iostream>

#include "ouro/ouro.h"

namespace {

// No broker listens at this port, or the build knows no Kafka.
int fail(const ouro::Error& error) {
  std::fputs(error.to_string().c_str(), stderr);
  assert(!error.what.empty());
  return 0;
}

}  // namespace

int main() {
  std::atomic<bool> stop{false};
  ouro::KafkaOptions options;
  options.brokers = "127.0.0.1:1";
  options.topic = "transactions";
  options.http = "127.0.0.1:0";
  options.stop = &stop;
  const auto report = ouro::serve_kafka(options);
  if (!report.ok()) return fail(report.error());
  if (report->merged) std::cout << ouro::describe(*report->merged);
  assert(false);
}
