// Measures what it takes to record one transaction of eight operations: to format, announce and add
// its line, and to write it to the file.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "run/history_file.h"
#include "run/transcript.h"

namespace ouro::running {
namespace {

void BM_RecordTransaction(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "ouro-file-benchmark.jsonl").string();
  auto file = HistoryFile::create(path, 1);
  if (!file.ok()) {
    state.SkipWithError("no history file");
    return;
  }
  Transcript transcript;
  std::string line;
  std::int64_t number = 1'000'000;
  for (auto _ : state) {
    transcript.clear();
    for (int i = 0; i < 4; ++i) {
      ++number;
      transcript.read(number * 7 % 10'000, number);
      transcript.write(number * 13 % 10'000, number);
    }
    Transcript::Frame frame{.session = 3, .status = TxnStatus::Unknown, .invoked = 1000 * number};
    transcript.format(frame, line);
    (*file)->announce(0, line);
    frame.status = TxnStatus::Committed;
    frame.completed = frame.invoked + 500;
    transcript.format(frame, line);
    (*file)->add(0, line);
  }
  file->reset();
  std::filesystem::remove(path);
}
// Measures the processor time of all threads, so that the one that writes the file counts, too.
BENCHMARK(BM_RecordTransaction)->Iterations(500'000)->MeasureProcessCPUTime();

}  // namespace
}  // namespace ouro::running
