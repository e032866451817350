// How long rc, ra and cc take, check time only: 50 sessions, half of the operations reads.

#include <benchmark/benchmark.h>

#include "ouro/check.h"
#include "ouro/generate.h"

namespace ouro::bench {
namespace {

// Arguments: transactions, operations of each, keys, level.
void BM_Weak(benchmark::State& state) {
  GenerateOptions options;
  options.sessions = 50;
  options.txns = static_cast<std::uint64_t>(state.range(0));
  options.ops_per_txn = static_cast<std::uint32_t>(state.range(1));
  options.keys = static_cast<std::uint64_t>(state.range(2));
  const auto level = static_cast<Level>(state.range(3));
  const auto history = generate(options);
  if (!history.ok()) return state.SkipWithError("no history");
  const auto verdict = check(*history, level);
  if (!verdict.ok() || verdict->outcome != Outcome::Holds) {
    return state.SkipWithError("wrong verdict");
  }
  for (auto _ : state) benchmark::DoNotOptimize(check(*history, level));
  state.SetLabel(std::string(info(level).name));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void each_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"txns", "ops", "keys", "level"});
  for (const Level level : {Level::ReadCommitted, Level::ReadAtomic, Level::Causal}) {
    const auto number = static_cast<std::int64_t>(level);
    benchmark->Args({100'000, 5, 1'000, number});
    benchmark->Args({10'000, 8, 1'000, number});
    benchmark->Args({100'000, 8, 10'000, number});
    benchmark->Args({1'000'000, 8, 100'000, number});
  }
}
BENCHMARK(BM_Weak)
    ->Apply(each_case)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro::bench
