// Levels without sessions beside their twins with sessions, on the workloads on which the twin
// holds (Twins/), and histories written session by session beside the same as recorded
// (BySession/). The time is that of the level, or of the sessions; `ratio` is its share of the
// other's time, which should not be above 1.3. Both are measured in turns, so that a busy machine
// slows both down.

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

// A level that should hold, on one history.
struct Question {
  const History& history;
  Level level;
};

// Measures `mine`, and shows how it compares with `other`.
void compare(benchmark::State& state, Question mine, Question other) {
  double my_total = 0;
  double other_total = 0;
  for (auto _ : state) {
    const auto others = seconds(other.history, other.level);
    const auto taken = seconds(mine.history, mine.level);
    if (!others || !taken) return state.SkipWithError("wrong verdict");
    other_total += *others;
    my_total += *taken;
    state.SetIterationTime(*taken);
  }
  state.counters["ratio"] = my_total / other_total;
}

void compare_twins(benchmark::State& state, const Workload& workload, Twins twins, bool sessions) {
  History history = make(workload);
  if (sessions) history = by_session(history);
  compare(state, {history, twins.level}, {history, twins.with_sessions});
}

void compare_orders(benchmark::State& state, const Workload& workload, Level level) {
  const History recorded = make(workload);
  const History sessions = by_session(recorded);
  compare(state, {sessions, level}, {recorded, level});
}

template <class Run>
void add(const std::string& name, const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1)
      ->UseManualTime();
}

bool holds_at(const Workload& workload, Level level) {
  for (const Expectation& expected : workload.expected) {
    if (expected.outcome == Outcome::Holds && implies(expected.level, level)) return true;
  }
  return false;
}

void add_twins(const Workload& workload) {
  for (const Twins twins : kTwins) {
    // Without clocks a level with real time asks no more than one without.
    const bool asks_time = twins.level == Level::Gsi;
    if (workload.options.clocks != asks_time) continue;
    if (!holds_at(workload, twins.with_sessions)) continue;
    for (const bool sessions : {false, true}) {
      if (sessions && workload.options.clocks) continue;
      const std::string name = "Twins/" + workload.id + '/' + std::string(info(twins.level).name) +
                               (sessions ? "/by session" : "");
      add(name, [&workload, twins, sessions](benchmark::State& state) {
        compare_twins(state, workload, twins, sessions);
      });
    }
  }
}

void add_orders(const Workload& workload) {
  if (workload.options.clocks) return;
  for (const Expectation& expected : workload.expected) {
    if (expected.outcome != Outcome::Holds) continue;
    const std::string name =
        "BySession/" + workload.id + '/' + std::string(info(expected.level).name);
    add(name, [&workload, level = expected.level](benchmark::State& state) {
      compare_orders(state, workload, level);
    });
  }
}

const bool kTwinsRegistered = [] {
  constexpr std::uint64_t kLargest = 100'000;
  for (const Workload& workload : workloads()) {
    if (workload.options.txns > kLargest && workload.id != "1m") continue;
    add_twins(workload);
    add_orders(workload);
  }
  return true;
}();

}  // namespace
}  // namespace ouro::bench
