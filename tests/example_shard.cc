// The example of ouro/shard.h.

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "ouro/report.h"
#include "ouro/shard.h"

namespace {

int fail(const ouro::Error& error) {
  std::cerr << error.to_string() << '\n';
  return 1;
}

int run(const std::string& folder) {
  const auto plan = ouro::split("tests/data/stream/timeline.jsonl", folder, {.keys = 2});
  if (!plan.ok()) return fail(plan.error());
  for (const ouro::ShardFile& shard : plan->shards) {  // Each of them on any machine.
    const auto verdict = ouro::check_shard(folder, *plan, shard, ouro::PiecesOptions());
    if (!verdict.ok()) return fail(verdict.error());
    const auto written = ouro::write_shard_verdict(*verdict, *plan, folder);
    if (!written.ok()) return fail(written.error());
  }
  const auto verdicts = ouro::read_shard_verdicts(*plan, folder);
  if (!verdicts.ok()) return fail(verdicts.error());
  const auto merged = ouro::merge(*plan, folder, *verdicts);
  if (!merged.ok()) return fail(merged.error());
  std::cout << ouro::headline(merged->history, merged->verdict) << "\n";
  return 0;
}

}  // namespace

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("ouro_example_shard_" + std::to_string(::getpid()));
  const int status = run(folder.string());
  std::filesystem::remove_all(folder);
  return status;
}
