// How fast files load, in bytes of the file per second: 1M transactions of 8 operations, 50
// sessions, 100k or 500k keys, from a temporary folder. The first, untimed load warms the page
// cache.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "ouro/format.h"
#include "ouro/generate.h"

namespace ouro::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTxns = 1'000'000;

// A file that goes away with it.
struct TemporaryFile {
  explicit TemporaryFile(std::string_view extension)
      : path(fs::temp_directory_path() /
             ("ouro_bench_" + std::to_string(::getpid()) + std::string(extension))) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  fs::path path;
};

const History& made(std::uint64_t keys) {
  static std::map<std::uint64_t, History> histories;
  const auto [at, added] = histories.try_emplace(keys);
  if (added) at->second = [keys] {
    GenerateOptions options;
    options.txns = kTxns;
    options.sessions = 50;
    options.keys = keys;
    options.timestamps = true;      // Chronos has no transactions without, and
    options.store = Level::Causal;  // no aborted ones: this store never refuses a commit.
    return *generate(options);
  }();
  return at->second;
}

// Arguments: the format, keys.
void BM_LoadFile(benchmark::State& state) {
  const auto format = static_cast<Format>(state.range(0));
  const History& wanted = made(static_cast<std::uint64_t>(state.range(1)));
  const TemporaryFile file(info(format).extension);
  if (!write_history(wanted, file.path.string(), format).ok()) {
    return state.SkipWithError("cannot write the file");
  }
  const auto same = [&wanted](const Result<History>& history) {
    return history.ok() && history->txn_count() == wanted.txn_count() &&
           history->op_count() == wanted.op_count() && history->key_count() == wanted.key_count();
  };
  const ReadOptions options{.format = format};
  if (!same(read_history(file.path.string(), options))) {
    return state.SkipWithError("wrong history");
  }
  for (auto _ : state) benchmark::DoNotOptimize(read_history(file.path.string(), options));
  const auto bytes = static_cast<std::int64_t>(fs::file_size(file.path));
  state.SetLabel(std::string(info(format).name));
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(BM_LoadFile)
    ->ArgNames({"format", "keys"})
    ->Args({static_cast<std::int64_t>(Format::NativeBinary), 100'000})
    ->Args({static_cast<std::int64_t>(Format::Native), 100'000})
    ->Args({static_cast<std::int64_t>(Format::Native), 500'000})
    ->Args({static_cast<std::int64_t>(Format::Chronos), 100'000})
    ->Args({static_cast<std::int64_t>(Format::JepsenEdn), 100'000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro::bench
