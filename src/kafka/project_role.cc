// The projector: reads transactions, and writes what each shard needs of them.
//
// Each partition of transactions has a producer of its own, whose name is that of the partition.
// Whoever is given a partition opens its producer first; from then on nobody else can commit parts
// of it. Parts and the progress of the group are committed at once, so that each message is
// projected once. All shards are told up to which time a partition was read, also if it has nothing
// new.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kafka/raw_projection.h"
#include "kafka/roles.h"

namespace ouro::kafka {
namespace {

using Clock = std::chrono::steady_clock;

// About how much of a partition is put together: parts must fit into messages.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr auto kLeastPause = std::chrono::milliseconds(250);

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class Projecting {
 public:
  explicit Projecting(const Surroundings& all)
      : all_(all),
        projection_(all.options.counts, all.options.initial, all.names.raw),
        shards_(shards_of(all.options.counts)) {}

  Ended run() {
    auto joined = Consumer::join(
        all_.connection, all_.names.raw,
        {.group = all_.names.projectors(),
         .gained = [this](std::int32_t partition) { return gain(partition); },
         .losing = [this](std::int32_t partition, bool) { owned_.erase(partition); }});
    if (!joined.ok()) return {joined.error()};
    consumer_ = *std::move(joined);
    Status status;
    while (!all_.stop && status) {
      const auto polled = consumer_->poll(kPollBytes, kPollPatience);
      status = polled.ok() ? take(*polled) : Status(polled.error());
    }
    consumer_->leave();
    return {status};
  }

 private:
  struct Owned {
    std::unique_ptr<Producer> producer;
    std::int64_t next = 0;        // The offset of the next message.
    std::int64_t committed = 0;   // What the group knows of that.
    std::string missing;          // To be told to all shards first.
    std::int64_t time_ms = 0;     // Up to when the partition was read.
    bool at_end = false;          // There was nothing more.
    Clock::time_point told = {};  // When the shards were told that time.
  };

  Result<std::int64_t> gain(std::int32_t partition);
  Status take(const Consumer::Polled& polled);
  Status project(std::int32_t partition, Owned& owned, std::span<const RawMessage> messages);
  [[nodiscard]] std::vector<ShardPart> parts_of(std::int32_t partition, const Owned& owned,
                                                std::span<const RawMessage> messages) const;
  // How long shards need not be told that there is nothing new.
  [[nodiscard]] Clock::duration pause() const {
    return std::max<Clock::duration>(all_.options.stream.timeout / 2, kLeastPause);
  }

  const Surroundings& all_;
  const RawProjection projection_;
  const std::vector<ShardId> shards_;
  std::uint32_t partitions_ = 1;  // Of the topic of transactions.
  std::map<std::int32_t, Owned> owned_;
  std::unique_ptr<Consumer> consumer_;
};

// The producer comes first: only then is it certain what was committed.
Result<std::int64_t> Projecting::gain(std::int32_t partition) {
  auto producer =
      Producer::open(all_.connection, fmt::format("{}.{}", all_.names.projectors(), partition));
  if (!producer.ok()) return producer.error();
  const auto progress = consumer_->progress(all_.names.raw, partition);
  if (!progress.ok()) return progress.error();
  const auto bounds = consumer_->bounds(all_.names.raw, partition);
  if (!bounds.ok()) return bounds.error();
  const auto partitions = partitions_of(all_.connection, all_.names.raw);
  if (!partitions.ok()) return partitions.error();
  partitions_ = std::max(partitions_, *partitions);
  Owned owned{.producer = *std::move(producer)};
  owned.next = owned.committed = *progress ? (*progress)->offset : 0;
  if (owned.next < bounds->begin) {
    owned.missing = fmt::format(
        "{}, partition {}: messages from offset {} to {} were deleted "
        "before they were read",
        all_.names.raw, partition, owned.next, bounds->begin - 1);
    all_.note(owned.missing);
    owned.next = bounds->begin;
  }
  const std::int64_t begin = owned.next;
  owned_.insert_or_assign(partition, std::move(owned));
  return begin;
}

Status Projecting::take(const Consumer::Polled& polled) {
  const std::int64_t now = now_ms();
  std::map<std::int32_t, std::vector<RawMessage>> by_partition;
  for (const Message& message : polled.messages) {
    const auto owner = owned_.find(message.partition);
    if (owner == owned_.end() || message.offset < owner->second.next) continue;
    Owned& owned = owner->second;
    owned.next = message.offset + 1;
    owned.at_end = false;
    // Whatever the clocks of senders say, it is not from the future.
    owned.time_ms = std::max(owned.time_ms, std::min(message.time_ms, now));
    if (message.value) by_partition[message.partition].push_back({message.offset, *message.value});
  }
  for (const auto& [partition, end] : polled.ends) {
    const auto owner = owned_.find(partition);
    if (owner == owned_.end()) continue;
    owner->second.next = std::max(owner->second.next, end);
    owner->second.at_end = true;
  }
  for (auto& [partition, owned] : owned_) {
    const bool quiet = owned.next == owned.committed && owned.missing.empty();
    if (quiet && (!owned.at_end || Clock::now() - owned.told < pause())) continue;
    if (owned.at_end && polled.all) owned.time_ms = std::max(owned.time_ms, now);
    if (Status done = project(partition, owned, by_partition[partition]); !done) return done;
  }
  return {};
}

Status Projecting::project(std::int32_t partition, Owned& owned,
                           std::span<const RawMessage> messages) {
  Producer& producer = *owned.producer;
  if (Status begun = producer.begin(); !begun) return begun;
  for (const ShardPart& part : parts_of(partition, owned, messages)) {
    const std::string shard = name(part.shard);
    const auto to = partition_of(all_.options.counts, shard).value_or(0);
    const Status sent =
        producer.send(all_.names.shards(), static_cast<std::int32_t>(to), shard, message_of(part));
    if (!sent) return sent;
    if (!part.missing.empty() && part.shard == shards_.front()) all_.note(part.missing);
  }
  const Status sent =
      producer.send_progress(*consumer_, all_.names.raw, partition, {owned.next, {}});
  if (!sent) return sent;
  if (Status committed = producer.commit(); !committed) return committed;
  owned.committed = owned.next;
  owned.missing.clear();
  owned.told = Clock::now();
  return {};
}

// The last part for each shard says up to when the partition was read.
std::vector<ShardPart> Projecting::parts_of(std::int32_t partition, const Owned& owned,
                                            std::span<const RawMessage> messages) const {
  std::vector<ShardPart> parts;
  if (!owned.missing.empty()) parts = projection_.missing(owned.missing);
  while (!messages.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < messages.size() && bytes < kPieceBytes; ++count) {
      bytes += messages[count].text.size();
    }
    for (ShardPart& part : projection_.project(partition, messages.first(count))) {
      parts.push_back(std::move(part));
    }
    messages = messages.subspan(count);
  }
  const ShardPart::Clock clock{.partition = static_cast<std::uint32_t>(partition),
                               .partitions = partitions_,
                               .time_ms = owned.time_ms};
  for (const ShardId shard : shards_) {
    const auto last = std::find_if(parts.rbegin(), parts.rend(),
                                   [&](const ShardPart& part) { return part.shard == shard; });
    if (last != parts.rend()) {
      last->clock = clock;
    } else {
      parts.push_back(
          {.shard = shard, .counts = all_.options.counts, .missing = {}, .clock = clock});
    }
  }
  return parts;
}

}  // namespace

Status run_projector(const Surroundings& all) {
  return again_and_again(all, "projector", [&] { return Projecting(all).run(); });
}

}  // namespace ouro::kafka
