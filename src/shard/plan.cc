// The plan of a split: shards.json.

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "format/output.h"
#include "report/json_writer.h"
#include "shard/fields.h"
#include "shard/folder.h"

namespace ouro {
namespace {

using shard::Fields;

constexpr std::array<std::string_view, kShardKindCount> kNames{"keys", "rows", "sessions",
                                                               "clocks"};
constexpr bool is_numbered(ShardKind kind) {
  return kind == ShardKind::Keys || kind == ShardKind::Sessions;
}

std::string plan_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "shards.json").string();
}

std::string print_plan(const ShardPlan& plan) {
  JsonWriter json;
  json.begin_object().member("ouro-shards", 1);
  json.member("history", std::string_view(plan.history));
  json.member("keys", plan.counts.keys).member("sessions", plan.counts.sessions);
  json.member("transactions", plan.txns).member("operations", plan.ops);
  json.member("fingerprint", std::string_view(shard::hexadecimal(plan.fingerprint)));
  json.key("left_out").begin_array();
  for (const LeftOut& left : plan.left_out) {
    json.begin_object().member("kind", name(left.kind)).member("count", left.count);
    json.member("total", left.total).end_object();
  }
  json.end_array();
  if (plan.part) {
    json.key("part").begin_object().member("before", plan.part->before);
    json.member("predicate_reads", plan.part->predicate_reads);
    json.member("clocks", plan.part->clocks).member("timestamps", plan.part->timestamps);
    json.end_object();
  }
  if (plan.joined) json.member("joined", true);
  json.key("shards").begin_array();
  for (const ShardFile& file : plan.shards) {
    json.begin_object().member("name", std::string_view(name(file.id)));
    json.member("transactions", file.txns).member("operations", file.ops).end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

void parse_left_out(const Fields& fields, ShardPlan& plan) {
  const std::string kind = fields.text("kind");
  for (std::size_t k = 0; k < kLeftOutKindCount; ++k) {
    const auto known = static_cast<LeftOutKind>(k);
    if (name(known) != kind) continue;
    plan.left_out.push_back({known, fields.whole("count"), fields.whole("total")});
    return;
  }
  fields.note("kind");
}

void parse_shard(const Fields& fields, std::span<const ShardId> known, ShardPlan& plan) {
  const std::string wanted = fields.text("name");
  for (const ShardId shard : known) {
    if (name(shard) != wanted) continue;
    plan.shards.push_back({shard, fields.whole("transactions"), fields.whole("operations")});
    return;
  }
  fields.note("name");
}

}  // namespace

std::string name(ShardId shard) {
  const std::string_view kind = kNames[static_cast<std::size_t>(shard.kind)];
  return is_numbered(shard.kind) ? fmt::format("{}-{}", kind, shard.number) : std::string(kind);
}

namespace shard {

std::string shard_path(const std::string& folder, ShardId shard) {
  return (std::filesystem::path(folder) / (name(shard) + ".jsonl")).string();
}
std::string verdict_path(const std::string& folder, ShardId shard) {
  return (std::filesystem::path(folder) / (name(shard) + ".verdict")).string();
}

Status write_file(const std::string& path, std::string text) {
  auto output = open_output(path);
  if (!output.ok()) return std::move(output).error();
  (*output)->buffer() = std::move(text);
  return (*output)->finish();
}

std::optional<ShardId> find_shard(const ShardPlan& plan, std::string_view wanted) {
  for (const ShardFile& file : plan.shards) {
    if (name(file.id) == wanted) return file.id;
  }
  return std::nullopt;
}

NextPiece one_piece(History history) {
  auto left = std::make_shared<const History>(std::move(history));
  return [left]() mutable -> Result<std::shared_ptr<const History>> {
    return std::exchange(left, nullptr);
  };
}

}  // namespace shard

Status write_shard_plan(const ShardPlan& plan, const std::string& folder) {
  return shard::write_file(plan_path(folder), print_plan(plan));
}

Result<ShardPlan> read_shard_plan(const std::string& folder) {
  const std::string path = plan_path(folder);
  if (!std::filesystem::exists(path)) {
    return error_in(path, "there is no plan; 'ouro shard split' makes a folder with one");
  }
  ShardPlan plan;
  const auto status = shard::read_object(path, [&](const Fields& fields) {
    if (fields.whole("ouro-shards") != 1) fields.note("ouro-shards");
    plan.history = fields.text("history");
    plan.counts.keys = static_cast<std::uint32_t>(fields.whole("keys", ShardCounts::kMost));
    plan.counts.sessions = static_cast<std::uint32_t>(fields.whole("sessions", ShardCounts::kMost));
    plan.txns = fields.whole("transactions");
    plan.ops = fields.whole("operations");
    plan.fingerprint = fields.fingerprint("fingerprint");
    fields.each("left_out", [&](JsonTree::Node left) { parse_left_out(fields.of(left), plan); });
    if (fields.has("part")) {
      const Fields part = fields.member("part");
      plan.part = {part.whole("before"), part.truth("predicate_reads"), part.truth("clocks"),
                   part.truth("timestamps")};
    }
    plan.joined = fields.has("joined") && fields.truth("joined");
    if (plan.counts.keys == 0) return fields.note("keys");
    if (plan.counts.sessions == 0) return fields.note("sessions");
    const Projector projector(plan.counts);
    fields.each("shards", [&](JsonTree::Node shard) {
      parse_shard(fields.of(shard), projector.shards(), plan);
    });
  });
  if (!status.ok()) return status.error();
  return plan;
}

}  // namespace ouro
