// How long a check by version orders takes, without loading.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "ouro/check.h"
#include "ouro/generate.h"
#include "ouro/history_builder.h"
#include "strong/by_session.h"
#include "versions/predicate_mix.h"

namespace ouro::bench {
namespace {

void run(benchmark::State& state, const History& history, Level level,
         Outcome expected = Outcome::Holds) {
  CheckOptions by_versions;
  by_versions.evidence = Evidence::Versions;
  const auto verdict = check(history, level, by_versions);
  if (!verdict.ok()) return state.SkipWithError(verdict.error().to_string().c_str());
  if (verdict->outcome != expected) return state.SkipWithError("wrong verdict");
  for (auto _ : state) benchmark::DoNotOptimize(check(history, level, by_versions));
  state.SetLabel(std::string(info(level).name));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(history.txn_count()));
}

// The history with each version left out of the version orders that a coin says. Names and values
// are small integers, as generated ones are.
History with_part_of_order(const History& history, unsigned percent) {
  HistoryBuilder builder;
  builder.default_initial(history.default_initial());
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    const TxnId txn{t};
    builder.begin_txn(builder.session(history.session_name(history.session(txn))));
    builder.status(history.status(txn));
    for (OpId id = history.first_op(txn); id < history.end_op(txn); id = OpId{id.index() + 1}) {
      const Op op = history.op(id);
      const KeyId key = builder.key(history.key_name(op.key));
      op.kind == OpKind::Write ? builder.write(key, op.value) : builder.read(key, op.value);
    }
  }
  std::mt19937_64 random(1);
  for (const VersionOrder& order : history.version_orders()) {
    std::vector<Value> versions;
    for (const Value version : history.versions(order)) {
      if (random() % 100 < percent) versions.push_back(version);
    }
    builder.version_order(builder.key(history.key_name(order.key)), versions,
                          order.complete && percent == 100);
  }
  return *std::move(builder).freeze();
}

// Arguments: transactions, operations of each, keys, percent of reads, percent of the order,
// whether transactions are recorded session by session, which says nothing about who came first.
void BM_Versions(benchmark::State& state) {
  GenerateOptions options;
  options.sessions = 24;
  options.version_orders = true;
  options.txns = static_cast<std::uint64_t>(state.range(0));
  options.ops_per_txn = static_cast<std::uint32_t>(state.range(1));
  options.keys = static_cast<std::uint64_t>(state.range(2));
  options.read_share = static_cast<double>(state.range(3)) / 100;
  const auto history = generate(options);
  if (!history.ok()) return state.SkipWithError("no history");
  const History recorded = state.range(5) != 0 ? by_session(*history) : *history;
  run(state, with_part_of_order(recorded, static_cast<unsigned>(state.range(4))),
      Level::Serializable);
}
BENCHMARK(BM_Versions)
    ->ArgNames({"txns", "ops", "keys", "reads", "known", "by_session"})
    ->Args({100'000, 5, 1'000, 50, 100, 0})
    ->Args({1'000'000, 5, 10'000, 50, 100, 0})
    ->Args({10'000, 8, 1'000, 20, 0, 0})
    ->Args({10'000, 8, 1'000, 20, 50, 0})
    ->Args({10'000, 8, 1'000, 20, 90, 0})
    ->Args({10'000, 8, 1'000, 20, 100, 0})
    ->Args({30'000, 8, 100, 20, 0, 1})
    ->Args({30'000, 8, 100, 20, 50, 1})
    ->Args({30'000, 8, 100, 20, 90, 1})
    ->Args({30'000, 8, 100, 20, 100, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

// Arguments: transactions, rows, values of the column, whether version sets are given, level, and
// how many updates were lost, which violates it.
void BM_VersionsOfPredicates(benchmark::State& state) {
  PredicateMix mix;
  mix.txns = static_cast<std::uint64_t>(state.range(0));
  mix.rows = static_cast<std::uint64_t>(state.range(1));
  mix.values = state.range(2);
  mix.version_sets = state.range(3) != 0;
  mix.lost_updates = static_cast<std::uint64_t>(state.range(5));
  run(state, make(mix), static_cast<Level>(state.range(4)),
      mix.lost_updates > 0 ? Outcome::Violated : Outcome::Holds);
}
BENCHMARK(BM_VersionsOfPredicates)
    ->ArgNames({"txns", "rows", "values", "sets", "level", "lost"})
    ->Args({2'500, 100, 1'000, 1, static_cast<int>(Level::Serializable), 0})
    ->Args({2'500, 100, 1'000, 0, static_cast<int>(Level::Serializable), 0})
    ->Args({10'000, 1'000, 1'000, 0, static_cast<int>(Level::Serializable), 0})
    ->Args({10'000, 1'000, 1'000, 0, static_cast<int>(Level::ParallelSi), 0})
    ->Args({10'000, 1'000, 1'000, 0, static_cast<int>(Level::ParallelSi), 1})
    ->Args({10'000, 100, 1'000, 1, static_cast<int>(Level::Serializable), 0})
    ->Args({10'000, 100, 1'000, 1, static_cast<int>(Level::ParallelSi), 1})
    ->Args({100'000, 10'000, 10'000, 0, static_cast<int>(Level::Serializable), 0})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro::bench
