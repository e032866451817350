// Levels without sessions beside their twins with sessions, on the workloads on which the twin
// holds. The time is that of the level; `ratio` is its share of the twin's time, which should not
// be above 1.3. Both are measured in turns, so that a busy machine slows both down.

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "strong/by_session.h"
#include "strong/workloads.h"

namespace ouro::bench {
namespace {

struct Twins {
  Level level;
  Level with_sessions;
};
constexpr std::array<Twins, 5> kTwins{{
    {Level::Serializable, Level::SessionSerializable},
    {Level::Si, Level::SessionSi},
    {Level::Gsi, Level::PrefixConsistentSi},
    {Level::Prefix, Level::SessionSi},
    {Level::ParallelSi, Level::SessionSi},
}};

// Returns the seconds that the check took, or nothing if the level does not hold.
std::optional<double> seconds(const History& history, Level level) {
  const auto start = std::chrono::steady_clock::now();
  const auto verdict = check(history, level);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!verdict.ok() || verdict->outcome != Outcome::Holds) return std::nullopt;
  return taken.count();
}

void compare_twins(benchmark::State& state, const Workload& workload, Twins twins, bool sessions) {
  History history = make(workload);
  if (sessions) history = by_session(history);
  double level_total = 0;
  double twin_total = 0;
  for (auto _ : state) {
    const auto twin = seconds(history, twins.with_sessions);
    const auto level = seconds(history, twins.level);
    if (!twin || !level) return state.SkipWithError("wrong verdict");
    twin_total += *twin;
    level_total += *level;
    state.SetIterationTime(*level);
  }
  state.counters["ratio"] = level_total / twin_total;
}

bool holds_at(const Workload& workload, Level level) {
  for (const Expectation& expected : workload.expected) {
    if (expected.outcome == Outcome::Holds && implies(expected.level, level)) return true;
  }
  return false;
}

const bool kTwinsRegistered = [] {
  constexpr std::uint64_t kLargest = 100'000;
  for (const Workload& workload : workloads()) {
    for (const Twins twins : kTwins) {
      // Without clocks a level with real time asks no more than one without.
      const bool asks_time = twins.level == Level::Gsi;
      if (workload.options.txns > kLargest || workload.options.clocks != asks_time) continue;
      if (!holds_at(workload, twins.with_sessions)) continue;
      for (const bool sessions : {false, true}) {
        if (sessions && workload.options.clocks) continue;
        const std::string name = "Twins/" + workload.id + '/' +
                                 std::string(info(twins.level).name) +
                                 (sessions ? "/by session" : "");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [&workload, twins, sessions](benchmark::State& state) {
                                       compare_twins(state, workload, twins, sessions);
                                     })
            ->Unit(benchmark::kMillisecond)
            ->MinTime(0.1)
            ->UseManualTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace ouro::bench
