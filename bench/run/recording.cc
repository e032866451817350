// What recording costs the database: throughput with and without it.
//
// The two alternate, so that whatever else the machine does falls on both; the last lines compare
// their medians. In this process the clients and the database share the cores, so all that
// recording does counts. With several clients of SQLite, who gets the lock next is luck, and says
// more than recording does; processor time and a single client tell. docs/run.md has the numbers.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "ouro/run.h"

namespace ouro {
namespace {

// Of all threads, in microseconds.
double processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

void BM_Run(benchmark::State& state) {
  const std::string history =
      (std::filesystem::temp_directory_path() / "ouro-recording.jsonl").string();
  RunOptions options;
  options.url = state.range(1) != 0 ? "rocksdb:" : "sqlite:";
  options.history = history;
  options.workload.sessions = static_cast<std::uint32_t>(state.range(2));
  options.workload.keys = 10'000;
  options.record = state.range(0) != 0;
  options.seconds = 1;
  double committed = 0;
  double seconds = 0;
  double processor = -processor_time();
  for (auto _ : state) {
    const auto report = run(options);
    if (!report.ok() || report->end.committed == 0) {
      state.SkipWithError("no run");
      break;
    }
    committed += static_cast<double>(report->end.committed);
    seconds += report->end.seconds;
  }
  processor += processor_time();
  std::filesystem::remove(history);
  state.SetLabel(options.url + (options.record ? " recording" : " not recording"));
  state.counters["committed/s"] = seconds > 0 ? committed / seconds : 0;
  state.counters["us/txn"] = committed > 0 ? processor / committed : 0;
}
BENCHMARK(BM_Run)
    ->ArgsProduct({{0, 1}, {0, 1}, {1, 8}})
    ->Iterations(1)
    ->Repetitions(9)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace ouro
