// The baselines that Viper compares itself with, GSI+Z3 and ASI+Z3, and the engine on the same
// histories: BlindW-RW as in bench/strong, but so small that Z3 comes to an end.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "tests/z3_oracle.h"

namespace ouro::bench {
namespace {

History small_blindw(std::int64_t txns) {
  GenerateOptions options;
  options.workload = WorkloadKind::BlindWRw;
  options.seed = 1;
  options.txns = static_cast<std::uint64_t>(txns);
  options.sessions = 8;
  options.keys = static_cast<std::uint64_t>(txns) / 2;
  auto history = generate(options);
  if (!history.ok()) throw std::runtime_error(history.error().to_string());
  return *std::move(history);
}

void BM_Z3(benchmark::State& state, oracle::Z3Encoding encoding) {
  const History history = small_blindw(state.range(0));
  for (auto _ : state) {
    if (!oracle::z3_allows(history, Level::SessionSi, encoding)) {
      state.SkipWithError("a violation where there is none");
      break;
    }
  }
}

void BM_Engine(benchmark::State& state) {
  const History history = small_blindw(state.range(0));
  for (auto _ : state) {
    const auto verdict = check(history, Level::SessionSi);
    if (!verdict.ok() || verdict->outcome != Outcome::Holds) {
      state.SkipWithError("a violation where there is none");
      break;
    }
  }
}

BENCHMARK_CAPTURE(BM_Z3, gsi, oracle::Z3Encoding::Snapshots)
    ->Arg(50)
    ->Arg(100)
    ->Arg(200)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Z3, asi, oracle::Z3Encoding::Graph)
    ->Arg(50)
    ->Arg(100)
    ->Arg(200)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Engine)->Arg(50)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ouro::bench
