// Measures how fast histories load. The text is in memory, so that the disk is not measured. Each
// benchmark checks that it loads as many transactions and operations as the text has.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "ouro/format.h"

namespace ouro {
namespace {

constexpr int kTxns = 400'000;
constexpr int kOpsPerTxn = 10;
constexpr int kSessions = 50;
constexpr int kKeys = 10'000;

// Calls print(kind, key, value) for each operation of transaction `txn`: reads and writes in turn.
// Every value is written once.
template <class PrintOp>
void print_ops(std::string& out, int txn, const PrintOp& print) {
  for (int i = 0; i < kOpsPerTxn; ++i) {
    const int number = txn * kOpsPerTxn + i;
    if (i != 0) out += ',';
    print(number % 2 == 0 ? 'r' : 'w', number * 7919 % kKeys, number);
  }
}

std::string chronos_text() {
  std::string out = "[\n";
  for (int t = 0; t < kTxns; ++t) {
    fmt::format_to(
        std::back_inserter(out),
        R"({}{{"tid":{},"sid":{},"sts":{{"p":{},"l":{}}},"cts":{{"p":{},"l":0}},"ops":[)",
        t == 0 ? "" : ",\n", t, t % kSessions, 1691420095436341 + t, t % 7, 1691420095436399 + t);
    print_ops(out, t, [&out](char kind, int key, int value) {
      fmt::format_to(std::back_inserter(out), R"({{"t":"{}","k":{},"v":{}}})", kind, key, value);
    });
    out += "]}";
  }
  return out + "\n]\n";
}

std::string native_text() {
  std::string out = "{\"ouro\":1,\"initial\":null}\n";
  for (int t = 0; t < kTxns; ++t) {
    fmt::format_to(
        std::back_inserter(out),
        R"({{"session":{},"invoked":{},"completed":{},"start_ts":{},"commit_ts":{},"ops":[)",
        t % kSessions, 1691420095436 + t, 1691420095999 + t, 1691420095436 + t, 1691420095999 + t);
    print_ops(out, t, [&out](char kind, int key, int value) {
      fmt::format_to(std::back_inserter(out), R"(["{}",{},{}])", kind, key, value);
    });
    out += "]}\n";
  }
  return out;
}

std::string edn_text() {
  std::string out;
  for (int t = 0; t < kTxns; ++t) {
    for (const std::string_view type : {"invoke", "ok"}) {
      fmt::format_to(std::back_inserter(out), "{{:type :{}, :f :txn, :value [", type);
      print_ops(out, t, [&out](char kind, int key, int value) {
        fmt::format_to(std::back_inserter(out), "[:{} {} {}]", kind, key, value);
      });
      fmt::format_to(std::back_inserter(out), "], :process {}, :time {}}}\n", t % kSessions, t);
    }
  }
  return out;
}

void load(benchmark::State& state, const std::string& text, Format format) {
  for (auto _ : state) {
    const auto history = parse_history(text, {.format = format});
    if (!history.ok() || history->txn_count() != kTxns ||
        history->op_count() != std::size_t{kTxns} * kOpsPerTxn) {
      return state.SkipWithError("wrong history");
    }
    benchmark::DoNotOptimize(history->op_count());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void BM_LoadChronos(benchmark::State& state) {
  static const std::string text = chronos_text();
  load(state, text, Format::Chronos);
}
BENCHMARK(BM_LoadChronos)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void BM_LoadNativeText(benchmark::State& state) {
  static const std::string text = native_text();
  load(state, text, Format::Native);
}
BENCHMARK(BM_LoadNativeText)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void BM_LoadEdn(benchmark::State& state) {
  static const std::string text = edn_text();
  load(state, text, Format::JepsenEdn);
}
BENCHMARK(BM_LoadEdn)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro
