// join(): makes one split of the splits of the parts of a history.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "format/output.h"
#include "ouro/shard.h"
#include "shard/folder.h"

namespace ouro {
namespace {

Error wrong_parts(std::string what) {
  Error error;
  error.what = std::move(what);
  return error;
}

// A part without transactions comes before the one that begins there.
bool before(const ShardPlan& a, const ShardPlan& b) {
  return std::pair(a.part->before, a.txns) < std::pair(b.part->before, b.txns);
}

// Whether the parts follow each other from the first transaction on.
Status in_a_row(std::span<const ShardPlan> parts) {
  std::uint64_t next = 0;
  for (const ShardPlan& part : parts) {
    if (part.counts.keys != parts[0].counts.keys ||
        part.counts.sessions != parts[0].counts.sessions) {
      return wrong_parts(fmt::format("{} and {} were split into other numbers of shards",
                                     parts[0].history, part.history));
    }
    if (part.part->before != next) {
      return wrong_parts(
          fmt::format("{} begins behind {} transactions, and there are {} in the parts before it; "
                      "name every part once, each split with --before",
                      part.history, part.part->before, next));
    }
    next += part.txns;
  }
  return {};
}

void add_left_out(const LeftOut& more, std::vector<LeftOut>& out) {
  const auto same = std::find_if(out.begin(), out.end(),
                                 [&](const LeftOut& left) { return left.kind == more.kind; });
  if (same == out.end()) {
    out.push_back(more);
  } else {
    same->count += more.count;
    same->total += more.total;
  }
}

void add_shard(const ShardFile& more, std::vector<ShardFile>& out) {
  const auto same = std::find_if(out.begin(), out.end(),
                                 [&](const ShardFile& file) { return file.id == more.id; });
  if (same == out.end()) {
    out.push_back(more);
  } else {
    same->txns += more.txns;
    same->ops += more.ops;
  }
}

// The lines of one shard in a part, behind those of the parts before it.
Status append_lines(const std::string& path, bool first, Output& output) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong_parts(path + ": cannot be read");
  std::string line;
  for (bool header = true; std::getline(file, line); header = false) {
    // What is said of the whole history, in lines that begin so, every part says.
    const bool about_whole = header || line.starts_with("{\"key\":");
    if (about_whole && !first) continue;
    output.buffer().append(line).append("\n");
    if (auto status = output.drain(); !status.ok()) return status;
  }
  return file.bad() ? Status{wrong_parts(path + ": cannot be read")} : Status{};
}

}  // namespace

Result<ShardPlan> join(std::vector<ShardPlan> parts) {
  if (parts.empty()) return wrong_parts("there are no parts to join");
  for (const ShardPlan& part : parts) {
    if (part.part) continue;
    return wrong_parts(fmt::format("{} was split as a whole and not as a part", part.history));
  }
  std::stable_sort(parts.begin(), parts.end(), before);
  if (auto status = in_a_row(parts); !status.ok()) return std::move(status).error();
  ShardPlan whole{.counts = parts[0].counts, .history = parts[0].history};
  whole.joined = true;
  ShardPlan::Part any;
  for (const ShardPlan& part : parts) {
    whole.txns += part.txns;
    whole.ops += part.ops;
    whole.fingerprint = whole.fingerprint * 0x9e3779b97f4a7c15 + part.fingerprint;
    any.predicate_reads |= part.part->predicate_reads;
    any.clocks |= part.part->clocks;
    any.timestamps |= part.part->timestamps;
    for (const LeftOut& left : part.left_out) add_left_out(left, whole.left_out);
    for (const ShardFile& shard : part.shards) add_shard(shard, whole.shards);
  }
  if (!any.timestamps) {
    return wrong_parts("the history has no timestamps, and only by these a check falls apart");
  }
  if (whole.left_out.size() > 1) {
    std::erase_if(whole.left_out,
                  [](const LeftOut& left) { return left.kind == LeftOutKind::Everything; });
  }
  std::erase_if(whole.shards, [&](const ShardFile& file) {
    return (file.id.kind == ShardKind::Rows && !any.predicate_reads) ||
           (file.id.kind == ShardKind::Clocks && !any.clocks);
  });
  std::sort(whole.shards.begin(), whole.shards.end(),
            [](const ShardFile& a, const ShardFile& b) { return a.id < b.id; });
  return whole;
}

Result<ShardPlan> join(std::span<const std::string> folders, const std::string& folder) {
  std::vector<std::pair<ShardPlan, std::string>> parts;
  std::vector<ShardPlan> plans;
  for (const std::string& each : folders) {
    auto plan = read_shard_plan(each);
    if (!plan.ok()) return plan.error();
    plans.push_back(*plan);
    parts.emplace_back(*std::move(plan), each);
  }
  auto whole = join(std::move(plans));
  if (!whole.ok()) return whole;
  if (auto status = shard::make_folder(folder); !status.ok()) return std::move(status).error();
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return before(a.first, b.first); });
  for (const ShardFile& file : whole->shards) {
    auto output = open_output(shard::shard_path(folder, file.id));
    if (!output.ok()) return std::move(output).error();
    bool first = true;
    for (const auto& [plan, from] : parts) {
      if (!shard::find_shard(plan, name(file.id))) continue;
      auto status = append_lines(shard::shard_path(from, file.id), first, **output);
      if (!status.ok()) return std::move(status).error();
      first = false;
    }
    if (auto status = (*output)->finish(); !status.ok()) return std::move(status).error();
  }
  if (auto status = write_shard_plan(*whole, folder); !status.ok())
    return std::move(status).error();
  return whole;
}

}  // namespace ouro
