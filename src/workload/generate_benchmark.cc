// How fast histories are generated: 8 operations per transaction, 50 sessions, 100,000 keys.
#include <benchmark/benchmark.h>

#include "base/level_rules.h"
#include "ouro/generate.h"

namespace ouro {
namespace {

void BM_Generate(benchmark::State& state) {
  GenerateOptions options;
  options.txns = static_cast<std::uint64_t>(state.range(0));
  options.store = static_cast<Level>(state.range(1));
  options.workload = static_cast<WorkloadKind>(state.range(2));
  options.sessions = 50;
  options.keys = 100'000;
  state.SetLabel(std::string(info(options.store).name));
  for (auto _ : state) {
    const auto history = generate(options);
    if (!history.ok() || history->txn_count() != options.txns) {
      state.SkipWithError("wrong number of transactions");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

constexpr auto kGeneral = static_cast<std::int64_t>(WorkloadKind::General);
constexpr auto kList = static_cast<std::int64_t>(WorkloadKind::ListAppend);

void each_store(benchmark::internal::Benchmark* benchmark) {
  for (const LevelInfo& level : levels()) {
    if (rules(level.level).store == StoreKind::None) continue;
    benchmark->Args({100'000, static_cast<std::int64_t>(level.level), kGeneral});
  }
  for (const Level level : {Level::ReadAtomic, Level::ParallelSi, Level::StrictSerializable}) {
    benchmark->Args({1'000'000, static_cast<std::int64_t>(level), kGeneral});
  }
  benchmark->Args({1'000'000, static_cast<std::int64_t>(Level::Si), kList});
}
BENCHMARK(BM_Generate)->Apply(each_store)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ouro
