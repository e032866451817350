// What recording costs the database: how much less it does with it than without.
//
// Runs with and without recording come in pairs, one right after the other and each first in every
// other pair, so that whatever else the machine does falls on both; the median of the pairs'
// quotients says what recording costs, the quartiles how sure that is. In this process the clients
// and the database share the cores, so all that recording does counts. docs/run.md has the numbers.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "ouro/run.h"

namespace ouro {
namespace {

constexpr int kPairs = 25;
constexpr double kSeconds = 0.5;  // Of each run.

// Of all threads, in seconds.
double processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Did {
  double throughput = 0;  // Commits a second; zero: something went wrong.
  double processor = 0;   // Seconds of processor time a commit.
};

Did run_once(RunOptions options, bool record) {
  const auto path = std::filesystem::temp_directory_path() / "ouro-recording.jsonl";
  options.history = path.string();
  options.record = record;
  options.seconds = kSeconds;
  const double before = processor_time();
  const auto report = run(options);
  const double processor = processor_time() - before;
  std::filesystem::remove(path);
  if (!report.ok() || report->end.committed == 0) return {};
  const auto committed = static_cast<double>(report->end.committed);
  return {.throughput = committed / report->end.seconds, .processor = processor / committed};
}

double quantile(std::vector<double>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

void BM_Recording(benchmark::State& state) {
  RunOptions options;
  options.url = state.range(0) != 0 ? "rocksdb:" : "sqlite:";
  options.workload.sessions = static_cast<std::uint32_t>(state.range(1));
  options.workload.keys = 10'000;
  std::vector<double> throughput;
  std::vector<double> processor;
  for (auto _ : state) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const bool first = pair % 2 == 0;
      std::array<Did, 2> did;  // Without and with.
      did[first ? 1 : 0] = run_once(options, first);
      did[first ? 0 : 1] = run_once(options, !first);
      if (did[0].throughput == 0 || did[1].throughput == 0) {
        state.SkipWithError("no run");
        return;
      }
      throughput.push_back(did[1].throughput / did[0].throughput);
      processor.push_back(did[1].processor / did[0].processor);
    }
  }
  state.SetLabel(options.url);
  state.counters["throughput"] = quantile(throughput, 0.5);
  state.counters["quarter"] = quantile(throughput, 0.25);
  state.counters["three quarters"] = quantile(throughput, 0.75);
  state.counters["processor time"] = quantile(processor, 0.5);
}
BENCHMARK(BM_Recording)
    ->ArgNames({"rocksdb", "clients"})
    ->ArgsProduct({{0, 1}, {1, 8}})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ouro
