#include "kafka/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ouro::kafka {
namespace {

using serving::Doubt;
using serving::EventText;
using serving::Vitals;

// Leaves the verdict undecided, unless something else is violated.
Vitals::Source behind(std::uint32_t number, std::string name, std::string why) {
  return {.number = number,
          .name = std::move(name),
          .stream = {},
          .doubt = {.number = 1, .scope = Doubt::Scope::Reads, .reason = std::move(why)}};
}

Error misfit(std::string what) {
  return Error{.file = {}, .line = {}, .offset = {}, .what = std::move(what)};
}

}  // namespace

StreamSummary decided_by(const ShardTally& tally) {
  StreamSummary stream = tally.stream;
  stream.provisional = 0;
  for (std::size_t k = 0; k < kAnomalyKindCount; ++k) {
    if (!decides(tally.shard.kind, static_cast<AnomalyKind>(k))) {
      stream.counts[k] = stream.provisional_counts[k] = 0;
    }
    stream.provisional += stream.provisional_counts[k];
  }
  // Without timestamps a transaction is a fault in each shard that has it; shards of sessions have
  // each transaction once.
  if (tally.shard.kind != ShardKind::Sessions) stream.faults = 0;
  return stream;
}

Board::Board(ShardCounts counts, Level level) : counts_(counts), level_(level) {
  for (const ShardId id : shards_of(counts)) {
    shards_.push_back({.id = id, .tally = {.shard = id, .counts = counts}, .late = {}});
  }
}

Result<std::optional<EventText>> Board::take(std::string_view name, const std::string& content) {
  const std::size_t slash = name.find('/');
  const auto partition = partition_of(counts_, name.substr(0, slash));
  if (!partition) {
    return misfit(fmt::format("there is a verdict on {}, which is no shard of {} of keys and {} of "
                              "sessions; give all processes the same --keys and --sessions",
                              name, counts_.keys, counts_.sessions));
  }
  Shard& shard = shards_[*partition];
  if (slash == name.npos) {
    auto tally = parse_tally(content);
    if (!tally.ok()) return misfit(fmt::format("the verdict on {} {}", name, tally.error().what));
    if (tally->shard != shard.id || tally->counts.keys != counts_.keys ||
        tally->counts.sessions != counts_.sessions || tally->level != level_) {
      return misfit(fmt::format("{} was checked at {} among {} shards of keys and {} of sessions; "
                                "give all processes the same flags",
                                name, info(tally->level).name, tally->counts.keys,
                                tally->counts.sessions));
    }
    if (tally->offset >= shard.tally.offset) shard.tally = *std::move(tally);
    return std::optional<EventText>();
  }
  const std::string number(name.substr(slash + 1));
  const std::uint64_t told = std::strtoull(number.c_str(), nullptr, 10);
  EventText event;
  if (told == 0 || !serving::parse_event(content, event)) {
    return misfit(fmt::format("{} is no event", name));
  }
  if (told <= shard.told) return std::optional<EventText>();
  shard.told = told;
  return std::optional<EventText>(std::move(event));
}

void Board::measure(std::uint64_t not_projected, const std::vector<std::int64_t>& ends, Time now) {
  const auto note = [now](std::optional<Time>& late, bool is_behind) {
    if (!is_behind) late.reset();
    if (is_behind && !late) late = now;
  };
  measured_ = true;
  not_projected_ = not_projected;
  note(late_, not_projected > 0);
  for (std::size_t p = 0; p < shards_.size() && p < ends.size(); ++p) {
    shards_[p].end = ends[p];
    note(shards_[p].late, ends[p] > shards_[p].tally.offset);
  }
}

Vitals Board::vitals(When when, Time now) const {
  Vitals vitals;
  const auto too_late = [&](const std::optional<Time>& since) {
    return since && (when == When::Finished || now - *since >= kPatience);
  };
  for (std::size_t p = 0; p < shards_.size(); ++p) {
    const Shard& shard = shards_[p];
    const auto number = static_cast<std::uint32_t>(p + 1);
    add(vitals, shard);
    const auto left = static_cast<std::uint64_t>(
        std::max<std::int64_t>(shard.end - shard.tally.offset, 0));
    Vitals::Source source{.number = number,
                          .name = name(shard.id),
                          .stream = decided_by(shard.tally),
                          .doubt = shard.tally.doubt,
                          .behind = left};
    if (too_late(shard.late) && source.doubt.number == 0) {
      const auto late =
          behind(number, source.name, fmt::format("{} messages are not checked yet", left));
      source.doubt = late.doubt;
    }
    vitals.sources.push_back(std::move(source));
  }
  if (too_late(late_) || (when == When::Finished && !measured_)) {
    vitals.sources.push_back(
        behind(static_cast<std::uint32_t>(shards_.size() + 1), "projectors",
               measured_ ? fmt::format("{} transactions are not projected yet", not_projected_)
                         : "nobody knows how many transactions are not projected yet"));
  }
  return vitals;
}

// What counts transactions is counted by shards of sessions, which have each of them once; what
// counts versions and reads, by the others.
void Board::add(Vitals& vitals, const Shard& shard) const {
  StreamSummary& sum = vitals.stream;
  const StreamSummary before = sum;
  const StreamSummary one = decided_by(shard.tally);
  serving::add(sum, one);
  sum.window_txns = std::max(before.window_txns, one.window_txns);
  vitals.lag_seconds = std::max(vitals.lag_seconds, shard.tally.lag_seconds);
  if (shard.id.kind == ShardKind::Sessions) {
    sum.operations = before.operations + shard.tally.operations;
    for (std::size_t i = 0; i < vitals.txns.size(); ++i) vitals.txns[i] += shard.tally.txns[i];
    return;
  }
  sum.txns = before.txns;
  sum.left_out = before.left_out;
  sum.operations = before.operations;
}

}  // namespace ouro::kafka
