// The example of include/ouro/serve.h.

#undef NDEBUG  // The assertions are the point, also in release builds.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <thread>

#include "ouro/ouro.h"

namespace {

int fail(const ouro::Error& error) {
  std::fputs(error.to_string().c_str(), stderr);
  return 1;
}

}  // namespace

int main() {
  std::ofstream("run.jsonl") << R"({"session":1,"start_ts":1,"commit_ts":3,"ops":[["w","x",1]]})"
                             << '\n'
                             << R"({"session":2,"start_ts":2,"commit_ts":4,"ops":[["w","x",2]]})"
                             << '\n';
  std::atomic<bool> stop{false};
  ouro::ServeOptions options;
  options.stream.level = ouro::Level::SessionSi;
  options.follow = {"run.jsonl"};
  options.http = "127.0.0.1:0";
  options.stop = &stop;
  options.event = [&](const std::string&) { stop = true; };  // At the first violation.
  options.ready = [&](const ouro::ServeAddresses& at) { std::cout << at.http << '\n'; };
  const auto report = ouro::serve(options);
  if (!report.ok()) return fail(report.error());
  std::cout << ouro::describe(*report);
  std::remove("run.jsonl");
  assert(report->outcome == ouro::Outcome::Violated);
  assert(report->summary.txns == 2);
}
