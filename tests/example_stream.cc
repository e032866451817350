// The example of include/ouro/stream.h.
#include <iostream>
#include <memory>

#include "ouro/format.h"
#include "ouro/report.h"
#include "ouro/stream.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto history = ouro::parse_history(
      R"({"session":"a","start_ts":1,"commit_ts":2,"ops":[["w","x",1]]}
{"session":"b","start_ts":3,"commit_ts":4,"ops":[["r","x",null]]})");
  if (!history.ok()) return fail(history.error());
  const auto batch = std::make_shared<const ouro::History>(*history);
  const ouro::StreamTime now(1'000'000'000);

  ouro::StreamOptions options;
  options.level = ouro::Level::SessionSi;
  auto stream = ouro::Stream::open(options);
  if (!stream.ok()) return fail(stream.error());
  const ouro::Status taken = stream->append(batch, now);  // Whenever transactions come,
  if (!taken.ok()) return fail(taken.error());
  stream->advance(now);                                  // … whenever time passes,
  for (const ouro::StreamEvent& event : stream->poll())  // … and whenever it suits.
    std::cout << ouro::describe(*event.history, event.verdict);
  const ouro::StreamSummary summary = stream->finish();
  const auto mismatch = static_cast<std::size_t>(ouro::AnomalyKind::SnapshotMismatch);
  return summary.txns == 2 && summary.counts[mismatch] == 1 ? 0 : 1;
}
