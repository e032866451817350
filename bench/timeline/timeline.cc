// How long a check by timestamps takes, without loading: 50 sessions, half of the operations reads.

#include <benchmark/benchmark.h>

#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro::bench {
namespace {

// Arguments: transactions, operations of each, keys, level, whether of lists.
void BM_Timeline(benchmark::State& state) {
  GenerateOptions options;
  options.sessions = 50;
  options.timestamps = true;
  options.txns = static_cast<std::uint64_t>(state.range(0));
  options.ops_per_txn = static_cast<std::uint32_t>(state.range(1));
  options.keys = static_cast<std::uint64_t>(state.range(2));
  const auto level = static_cast<Level>(state.range(3));
  options.store = level;
  if (state.range(4) != 0) options.workload = WorkloadKind::ListAppend;
  CheckOptions by_timestamps;
  by_timestamps.evidence = Evidence::Timestamps;
  const auto history = generate(options);
  if (!history.ok()) return state.SkipWithError("no history");
  const auto verdict = check(*history, level, by_timestamps);
  if (!verdict.ok() || verdict->outcome != Outcome::Holds) {
    return state.SkipWithError("wrong verdict");
  }
  for (auto _ : state) benchmark::DoNotOptimize(check(*history, level, by_timestamps));
  state.SetLabel(std::string(info(level).name));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void each_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"txns", "ops", "keys", "level", "lists"});
  const auto si = static_cast<std::int64_t>(Level::SessionSi);
  const auto ser = static_cast<std::int64_t>(Level::SessionSerializable);
  benchmark->Args({100'000, 15, 1'000, si, 0});
  benchmark->Args({1'000'000, 15, 1'000, si, 0});
  benchmark->Args({1'000'000, 15, 500'000, si, 0});
  benchmark->Args({100'000, 5, 1'000, ser, 0});
  benchmark->Args({1'000'000, 5, 1'000, ser, 0});
  benchmark->Args({100'000, 8, 20'000, si, 1});
}
BENCHMARK(BM_Timeline)
    ->Apply(each_case)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro::bench
