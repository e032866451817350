#include "kafka/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/json_tree.h"
#include "report/json_writer.h"
#include "shard/fields.h"

namespace ouro::kafka {
namespace {

using serving::Doubt;
using shard::Fields;

struct Count {
  std::string_view name;
  std::uint64_t StreamSummary::*member;
};
constexpr Count kCounts[] = {
    {"transactions", &StreamSummary::txns},
    {"left_out", &StreamSummary::left_out},
    {"operations", &StreamSummary::operations},
    {"stragglers", &StreamSummary::stragglers},
    {"lost_stragglers", &StreamSummary::lost_stragglers},
    {"undecided", &StreamSummary::undecided},
    {"faults", &StreamSummary::faults},
    {"flips", &StreamSummary::flips},
    {"flipped", &StreamSummary::flipped_txns},
    {"provisional", &StreamSummary::provisional},
    {"window", &StreamSummary::window_txns},
    {"keys_in_memory", &StreamSummary::keys},
    {"memory", &StreamSummary::memory},
    {"disk", &StreamSummary::disk},
    {"spilled", &StreamSummary::spilled},
    {"recalled", &StreamSummary::recalled},
    {"keys_left", &StreamSummary::keys_left},
    {"keys_back", &StreamSummary::keys_back},
};

using ByAnomaly = std::array<std::uint64_t, kAnomalyKindCount>;

void write_shard(JsonWriter& json, std::string_view what, ShardId shard, ShardCounts counts) {
  json.begin_object().member(what, std::string_view(name(shard)));
  json.member("keys", counts.keys).member("sessions", counts.sessions);
}

void write_by_anomaly(JsonWriter& json, std::string_view name, const ByAnomaly& counts) {
  json.key(name).begin_object();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) json.member(info(static_cast<AnomalyKind>(k)).name, counts[k]);
  }
  json.end_object();
}

void write_doubt(JsonWriter& json, const Doubt& doubt) {
  if (doubt.number == 0) return;
  json.key("doubt").begin_object().member("number", doubt.number);
  json.member("voids", name(doubt.scope)).member("reason", std::string_view(doubt.reason));
  json.member("at", doubt.at.count()).end_object();
}

void write_txns(JsonWriter& json, const std::array<std::uint64_t, 3>& txns) {
  json.key("taken").begin_array();
  for (const std::uint64_t count : txns) json.value(count);
  json.end_array();
}

void parse_shard(const Fields& fields, std::string_view what, ShardId& shard, ShardCounts& counts) {
  counts.keys = static_cast<std::uint32_t>(fields.whole("keys", ShardCounts::kMost));
  counts.sessions = static_cast<std::uint32_t>(fields.whole("sessions", ShardCounts::kMost));
  const std::string wanted = fields.text(what);
  if (counts.keys == 0 || counts.sessions == 0) return fields.note("keys");
  const auto partition = partition_of(counts, wanted);
  if (!partition) return fields.note(what);
  shard = shards_of(counts)[*partition];
}

void parse_by_anomaly(const Fields& fields, std::string_view name, ByAnomaly& counts) {
  const Fields all = fields.member(name);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::string_view kind = info(static_cast<AnomalyKind>(k)).name;
    if (all.has(kind)) counts[k] = all.whole(kind);
  }
}

void parse_doubt(const Fields& fields, Doubt& doubt) {
  if (!fields.has("doubt")) return;
  const Fields all = fields.member("doubt");
  doubt.number = all.whole("number");
  doubt.reason = all.text("reason");
  doubt.at = StreamTime(all.integer("at"));
  const std::string scope = all.text("voids");
  for (const auto known : {Doubt::Scope::Reads, Doubt::Scope::Everything}) {
    if (name(known) == scope) doubt.scope = known;
  }
}

void parse_txns(const Fields& fields, std::array<std::uint64_t, 3>& txns) {
  std::size_t at = 0;
  fields.each("taken", [&](JsonTree::Node count) {
    const auto number = count.integer();
    if (!number || at >= txns.size()) return fields.note("taken");
    txns[at++] = static_cast<std::uint64_t>(*number);
  });
}

// Calls `take` with the fields of `text`, an object. The error says what is wrong with it.
template <class Take>
Status parse_object(std::string_view text, const Take& take) {
  Error error;
  JsonTree json;
  if (!json.parse(text) || !json.root().is_map()) {
    error.what = "is no message of ouro";
    return error;
  }
  take(Fields(json.root(), error.what));
  return error.what.empty() ? Status() : Status(error);
}

}  // namespace

std::vector<ShardId> shards_of(ShardCounts counts) {
  const Projector projector(counts);
  return {projector.shards().begin(), projector.shards().end()};
}

std::optional<std::uint32_t> partition_of(ShardCounts counts, std::string_view shard) {
  const std::vector<ShardId> all = shards_of(counts);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](ShardId each) { return name(each) == shard; });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - all.begin());
}

std::string message_of(const ShardPart& part) {
  JsonWriter json;
  write_shard(json, "ouro-part", part.shard, part.counts);
  if (part.operations > 0) json.member("operations", part.operations);
  if (!part.missing.empty()) json.member("missing", std::string_view(part.missing));
  if (part.clock) {
    json.member("from", part.clock->partition).member("of", part.clock->partitions);
    json.member("time", part.clock->time_ms);
  }
  json.end_object();
  return std::move(json).finish() + part.text;
}

Result<ShardPart> parse_part(std::string_view message) {
  ShardPart part;
  const std::size_t end = std::min(message.find('\n'), message.size());
  const Status parsed = parse_object(message.substr(0, end), [&](const Fields& fields) {
    parse_shard(fields, "ouro-part", part.shard, part.counts);
    if (fields.has("operations")) part.operations = fields.whole("operations");
    if (fields.has("missing")) part.missing = fields.text("missing");
    if (!fields.has("from")) return;
    constexpr std::int64_t kMostPartitions = 1'000'000;
    part.clock = {.partition = static_cast<std::uint32_t>(fields.whole("from", kMostPartitions)),
                  .partitions = static_cast<std::uint32_t>(fields.whole("of", kMostPartitions)),
                  .time_ms = static_cast<std::int64_t>(fields.whole("time"))};
    if (part.clock->partition >= part.clock->partitions) fields.note("from");
  });
  if (!parsed) return parsed.error();
  part.text = message.substr(std::min(end + 1, message.size()));
  return part;
}

std::string message_of(const ShardTally& tally) {
  JsonWriter json;
  write_shard(json, "ouro-tally", tally.shard, tally.counts);
  json.member("level", info(tally.level).name).member("offset", tally.offset);
  json.member("events", tally.events).member("whole_operations", tally.operations);
  json.member("lag_seconds", tally.lag_seconds);
  write_txns(json, tally.txns);
  write_doubt(json, tally.doubt);
  for (const Count& count : kCounts) json.member(count.name, tally.stream.*count.member);
  write_by_anomaly(json, "violations", tally.stream.counts);
  write_by_anomaly(json, "provisional_violations", tally.stream.provisional_counts);
  json.end_object();
  return std::move(json).finish();
}

Result<ShardTally> parse_tally(std::string_view message) {
  ShardTally tally;
  const Status parsed = parse_object(message, [&](const Fields& fields) {
    parse_shard(fields, "ouro-tally", tally.shard, tally.counts);
    const auto level = find_level(fields.text("level"));
    if (!level) return fields.note("level");
    tally.level = *level;
    tally.offset = static_cast<std::int64_t>(fields.whole("offset"));
    tally.events = fields.whole("events");
    tally.operations = fields.whole("whole_operations");
    tally.lag_seconds = fields.has("lag_seconds") ? fields.number("lag_seconds") : 0;
    parse_txns(fields, tally.txns);
    parse_doubt(fields, tally.doubt);
    for (const Count& count : kCounts) tally.stream.*count.member = fields.whole(count.name);
    parse_by_anomaly(fields, "violations", tally.stream.counts);
    parse_by_anomaly(fields, "provisional_violations", tally.stream.provisional_counts);
  });
  if (!parsed) return parsed.error();
  return tally;
}

std::string message_of(const TopicManifest& manifest) {
  JsonWriter json;
  write_shard(json, "ouro-state", manifest.shard, manifest.counts);
  json.member("offset", manifest.offset).member("events", manifest.events);
  json.member("whole_operations", manifest.operations);
  write_txns(json, manifest.txns);
  write_doubt(json, manifest.doubt);
  json.key("times").begin_array();
  for (const std::int64_t time : manifest.times_ms) json.value(time);
  json.end_array().key("files").begin_array();
  for (const TopicManifest::File& file : manifest.files) {
    json.begin_object().member("name", std::string_view(file.name));
    json.member("bytes", file.bytes).end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

Result<TopicManifest> parse_manifest(std::string_view message) {
  TopicManifest manifest;
  const Status parsed = parse_object(message, [&](const Fields& fields) {
    parse_shard(fields, "ouro-state", manifest.shard, manifest.counts);
    manifest.offset = static_cast<std::int64_t>(fields.whole("offset"));
    manifest.events = fields.whole("events");
    manifest.operations = fields.whole("whole_operations");
    parse_txns(fields, manifest.txns);
    parse_doubt(fields, manifest.doubt);
    fields.each("times", [&](JsonTree::Node time) {
      if (!time.integer()) fields.note("times");
      manifest.times_ms.push_back(time.integer().value_or(0));
    });
    fields.each("files", [&](JsonTree::Node each) {
      const Fields file = fields.of(each);
      manifest.files.push_back({file.text("name"), file.whole("bytes")});
    });
    if (manifest.files.empty()) fields.note("files");
  });
  if (!parsed) return parsed.error();
  return manifest;
}

}  // namespace ouro::kafka
