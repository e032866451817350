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
Doubt behind(std::string why) {
  return {.number = 1, .scope = Doubt::Scope::Reads, .reason = std::move(why)};
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
    shards_.push_back({.id = id, .tally = {.shard = id, .counts = counts}});
  }
}

Result<std::optional<EventText>> Board::take(std::string_view name, const std::string& content) {
  const std::size_t slash = name.find('/');
  const auto partition = partition_of(counts_, name.substr(0, slash));
  if (!partition) {
    return misfit(
        fmt::format("there is a verdict on {}, which is no shard of {} of keys and {} of "
                    "sessions; give all processes the same --keys and --sessions",
                    name, counts_.keys, counts_.sessions));
  }
  Shard& shard = shards_[*partition];
  if (slash == name.npos) {
    auto tally = parse_tally(content);
    if (!tally.ok()) return misfit(fmt::format("the verdict on {} {}", name, tally.error().what));
    if (tally->shard != shard.id || tally->counts.keys != counts_.keys ||
        tally->counts.sessions != counts_.sessions || tally->level != level_) {
      return misfit(
          fmt::format("{} was checked at {} among {} shards of keys and {} of sessions; "
                      "give all processes the same flags",
                      name, info(tally->level).name, tally->counts.keys, tally->counts.sessions));
    }
    if (tally->offset >= shard.tally.offset) shard.tally = *std::move(tally);
    shard.race.reached = shard.tally.offset;
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

void Board::Race::go_on(std::int64_t reached_now, std::int64_t end_now, Time now) {
  reached = reached_now;
  end = end_now;
  if (behind()) return;
  goal = end;
  since = now;
}

void Board::measure(std::int64_t projected, std::int64_t raw_end,
                    const std::vector<std::int64_t>& ends, Time now) {
  measured_ = true;
  projectors_.go_on(projected, raw_end, now);
  for (std::size_t p = 0; p < shards_.size() && p < ends.size(); ++p) {
    shards_[p].race.go_on(shards_[p].tally.offset, ends[p], now);
  }
}

bool Board::caught_up() const {
  const auto behind = [](const Shard& shard) { return shard.race.behind(); };
  return !projectors_.behind() && std::none_of(shards_.begin(), shards_.end(), behind);
}

bool Board::too_late(const Race& race, When when, Time now) {
  return race.behind() && (when == When::Finished || now - race.since >= kPatience);
}

Vitals Board::vitals(When when, Time now) const {
  Vitals vitals;
  for (std::size_t p = 0; p < shards_.size(); ++p) {
    const Shard& shard = shards_[p];
    add(vitals, shard);
    const auto left =
        static_cast<std::uint64_t>(std::max<std::int64_t>(shard.race.end - shard.race.reached, 0));
    Vitals::Source source{.number = static_cast<std::uint32_t>(p + 1),
                          .name = name(shard.id),
                          .stream = decided_by(shard.tally),
                          .doubt = shard.tally.doubt,
                          .behind = left};
    if (too_late(shard.race, when, now) && source.doubt.number == 0) {
      source.doubt = behind(fmt::format("{} messages are not checked yet", left));
    }
    vitals.sources.push_back(std::move(source));
  }
  Vitals::Source projectors{.number = static_cast<std::uint32_t>(shards_.size() + 1),
                            .name = "projectors",
                            .stream = {},
                            .behind = static_cast<std::uint64_t>(
                                std::max<std::int64_t>(projectors_.end - projectors_.reached, 0))};
  if (when == When::Finished && !measured_) {
    projectors.doubt = behind("nobody knows how many messages are not projected yet");
  } else if (too_late(projectors_, when, now)) {
    projectors.doubt = behind(fmt::format("{} messages are not projected yet", *projectors.behind));
  }
  vitals.sources.push_back(std::move(projectors));
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
