// What it costs to reach a database by a program that speaks our protocol: SQLite by the reference
// driver in Python, beside the driver that is built in. docs/drivers.md has the numbers.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "ouro/ouro.h"

namespace ouro {
namespace {

constexpr double kSeconds = 2;  // Of each run.

const std::string kReference =
    "exec:/usr/bin/python3 " OURO_SOURCE_DIR "/clients/drivers/python/ouro_driver.py sqlite";
const std::array<std::pair<std::string, std::string>, 4> kWays{{
    {"built in", "sqlite:"},
    {"program", kReference},
    {"program with threads", kReference + " --threads"},
    {"program, a message per operation", kReference + " --steps"},
}};

// The history must hold: a fast wrong answer counts for nothing.
bool holds(const std::string& path) {
  const auto history = read_history(path);
  if (!history.ok()) return false;
  const auto verdict = check(*history, Level::Serializable);
  return verdict.ok() && verdict->outcome == Outcome::Holds;
}

void BM_ExecDriver(benchmark::State& state) {
  const auto& [name, url] = kWays[static_cast<std::size_t>(state.range(0))];
  const auto path = std::filesystem::temp_directory_path() / "ouro-exec-benchmark.jsonl";
  RunOptions options;
  options.url = url;
  options.history = path.string();
  options.workload.sessions = static_cast<std::uint32_t>(state.range(1));
  options.workload.keys = 1000;
  options.seconds = kSeconds;
  double committed = 0, seconds = 0;
  for (auto _ : state) {
    const auto report = run(options);
    if (!report.ok() || !holds(options.history)) {
      state.SkipWithError("no run that holds");
      break;
    }
    committed += static_cast<double>(report->end.committed);
    seconds += report->end.seconds;
  }
  std::filesystem::remove(path);
  state.SetLabel(name);
  if (seconds > 0) state.counters["txns_per_s"] = committed / seconds;
}
BENCHMARK(BM_ExecDriver)
    ->ArgNames({"way", "clients"})
    ->ArgsProduct({{0, 1, 2, 3}, {1, 8}})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ouro
