// What recording costs the database: RocksDB's throughput with and without it.
//
// The two alternate, so that whatever else the machine does falls on both; the last lines compare
// their medians. In this process the clients and the database share the cores, so all that
// recording does counts. docs/run.md has the numbers.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "ouro/run.h"

namespace ouro {
namespace {

void BM_Run(benchmark::State& state) {
  const std::string history =
      (std::filesystem::temp_directory_path() / "ouro-recording.jsonl").string();
  RunOptions options;
  options.url = state.range(1) != 0 ? "rocksdb:" : "sqlite:";
  options.history = history;
  options.workload.sessions = 8;
  options.workload.keys = 10'000;
  options.record = state.range(0) != 0;
  options.seconds = 1;
  double committed = 0;
  double seconds = 0;
  for (auto _ : state) {
    const auto report = run(options);
    if (!report.ok() || report->end.committed == 0) {
      state.SkipWithError("no run");
      break;
    }
    committed += static_cast<double>(report->end.committed);
    seconds += report->end.seconds;
  }
  std::filesystem::remove(history);
  state.SetLabel(options.url + (options.record ? " recording" : " not recording"));
  state.counters["committed/s"] = seconds > 0 ? committed / seconds : 0;
}
BENCHMARK(BM_Run)
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Iterations(1)
    ->Repetitions(9)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace ouro
