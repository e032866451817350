// Writes the histories that bench/table measures.
//
//   ouro_bench_history list                          a line for each workload and level:
//                                                    id, title, level, verdict, seeds, clocks
//   ouro_bench_history make ID SEED recorded|by-session FILE
//   ouro_bench_history frontier LEVEL TXNS SEED FILE
//   ouro_bench_history hard                          a line for each hard case: name, level
//   ouro_bench_history hard NAME FILE                writes one as JSON Lines
//   ouro_bench_history measure PROGRAM ARGUMENT...   runs it; the last line is its peak in KiB
//
// The system counts the memory of the process that starts a program into the program's peak, so
// measuring is done here and not by the script, whose interpreter is larger than many a check.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/frontier/family.h"
#include "bench/frontier/frontier.h"
#include "ouro/format.h"
#include "strong/by_session.h"
#include "strong/workloads.h"

namespace ouro::bench {
namespace {

int fail(std::string_view what) {
  fmt::print(stderr, "ouro_bench_history: {}\n", what);
  return 254;
}

int write(const History& history, const char* path) {
  const auto written = write_history(history, path, Format::NativeBinary);
  return written.ok() ? 0 : fail(written.error().to_string());
}

int list() {
  for (const Workload& workload : workloads()) {
    for (const Expectation& expected : workload.expected) {
      fmt::print("{}\t{}\t{}\t{}\t{}\t{}\n", workload.id, workload.title, info(expected.level).name,
                 name(expected.outcome), workload.seeds,
                 workload.options.clocks ? "clocks" : "no-clocks");
    }
  }
  return 0;
}

int make_one(std::string_view id, std::uint64_t seed, std::string_view order, const char* path) {
  for (const Workload& workload : workloads()) {
    if (workload.id != id) continue;
    const History history = make(workload, seed);
    return write(order == "by-session" ? by_session(history) : history, path);
  }
  return fail(fmt::format("unknown workload '{}'", id));
}

int list_hard() {
  for (const HardCase& hard : hard_cases()) {
    fmt::print("{}\t{}\n", hard.name, info(hard.level).name);
  }
  return 0;
}

int make_hard(std::string_view name, const char* path) {
  const auto history = hard_history(name);
  if (!history) return fail(fmt::format("unknown name '{}'", name));
  const auto written = write_history(*history, path, Format::Native);
  return written.ok() ? 0 : fail(written.error().to_string());
}

int measure(char** command) {
  pid_t child = 0;
  if (posix_spawn(&child, command[0], nullptr, nullptr, command, environ) != 0) {
    return fail(fmt::format("cannot run {}", command[0]));
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) {
    return fail(fmt::format("{} did not end by itself", command[0]));
  }
  fmt::print("{}\n", usage.ru_maxrss);
  return WEXITSTATUS(status);
}

int run(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "list" && argc == 2) return list();
  if (command == "make" && argc == 6) {
    return make_one(argv[2], std::strtoull(argv[3], nullptr, 10), argv[4], argv[5]);
  }
  if (command == "frontier" && argc == 6) {
    const auto level = find_level(argv[2]);
    if (!level) return fail(fmt::format("unknown level '{}'", argv[2]));
    const auto txns = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    const std::uint64_t seed = std::strtoull(argv[4], nullptr, 10);
    return write(frontier(near_threshold(*level, txns, seed)), argv[5]);
  }
  if (command == "hard" && argc == 2) return list_hard();
  if (command == "hard" && argc == 4) return make_hard(argv[2], argv[3]);
  if (command == "measure" && argc > 2) return measure(argv + 2);
  return fail(
      "expected: measure PROGRAM ARGUMENT... | list | make ID SEED recorded|by-session FILE | "
      "frontier LEVEL TXNS SEED FILE | hard [NAME FILE]");
}

}  // namespace
}  // namespace ouro::bench

int main(int argc, char** argv) { return ouro::bench::run(argc, argv); }
