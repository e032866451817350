// How long the strong levels take on each workload, check time only. `by session` destroys the
// source order. The 1M rows are left to bench/table, which shows their memory too.

#include <benchmark/benchmark.h>

#include "strong/by_session.h"
#include "strong/workloads.h"

namespace ouro::bench {
namespace {

enum class SourceOrder { Recorded, BySession };

void check_workload(benchmark::State& state, const Workload& workload, Expectation expected,
                    SourceOrder order) {
  History history = make(workload);
  if (order == SourceOrder::BySession) history = by_session(history);
  const auto verdict = check(history, expected.level);
  if (!verdict.ok() || verdict->outcome != expected.outcome) {
    return state.SkipWithError("wrong verdict");
  }
  for (auto _ : state) benchmark::DoNotOptimize(check(history, expected.level));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(history.txn_count()));
}

void add(const Workload& workload, Expectation expected, SourceOrder order) {
  const std::string name = "Strong/" + workload.id + '/' + std::string(info(expected.level).name) +
                           (order == SourceOrder::BySession ? "/by session" : "");
  benchmark::RegisterBenchmark(name.c_str(),
                               [&workload, expected, order](benchmark::State& state) {
                                 check_workload(state, workload, expected, order);
                               })
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1)
      ->UseRealTime()
      ->MeasureProcessCPUTime();
}

const bool kRegistered = [] {
  constexpr std::uint64_t kLargest = 100'000;
  for (const Workload& workload : workloads()) {
    if (workload.options.txns > kLargest) continue;
    for (const Expectation expected : workload.expected) {
      add(workload, expected, SourceOrder::Recorded);
      // Without clocks strong-si is another question.
      if (!workload.options.clocks) add(workload, expected, SourceOrder::BySession);
    }
  }
  return true;
}();

}  // namespace
}  // namespace ouro::bench
