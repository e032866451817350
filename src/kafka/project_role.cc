// The projector: reads transactions, and writes what each shard needs of them.
//
// Each partition of transactions has a producer of its own, whose name is that of the partition.
// Whoever is given a partition opens its producer first; from then on nobody else can commit parts
// of it. Parts and the progress of the group are committed at once, so that each message is
// projected once.

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "kafka/raw_projection.h"
#include "kafka/roles.h"

namespace ouro::kafka {
namespace {

constexpr std::size_t kPollBytes = std::size_t{4} << 20;
constexpr auto kPollPatience = std::chrono::milliseconds(100);
// About how much of a partition is put together: parts must fit into messages.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

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
    std::int64_t next = 0;       // The offset of the next message.
    std::int64_t committed = 0;  // What the group knows of that.
    std::string missing;         // To be told to all shards first.
  };

  Result<std::int64_t> gain(std::int32_t partition);
  Status take(const Consumer::Polled& polled);
  Status project(std::int32_t partition, Owned& owned, std::span<const RawMessage> messages);
  Status send(Producer& producer, const std::vector<ShardPart>& parts) const;

  const Surroundings& all_;
  const RawProjection projection_;
  const std::vector<ShardId> shards_;
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
  Owned owned{.producer = *std::move(producer)};
  owned.next = owned.committed = *progress ? (*progress)->offset : 0;
  if (owned.next < bounds->begin) {
    owned.missing = fmt::format("{}, partition {}: messages from offset {} to {} were deleted "
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
  std::map<std::int32_t, std::vector<RawMessage>> by_partition;
  for (const Message& message : polled.messages) {
    const auto owner = owned_.find(message.partition);
    if (owner == owned_.end() || message.offset < owner->second.next) continue;
    owner->second.next = message.offset + 1;
    std::vector<RawMessage>& mine = by_partition[message.partition];
    if (message.value) mine.push_back({message.offset, *message.value});
  }
  for (const auto& [partition, end] : polled.ends) {
    const auto owner = owned_.find(partition);
    if (owner != owned_.end()) owner->second.next = std::max(owner->second.next, end);
  }
  for (auto& [partition, owned] : owned_) {
    if (owned.next == owned.committed && owned.missing.empty()) continue;
    if (Status done = project(partition, owned, by_partition[partition]); !done) return done;
  }
  return {};
}

Status Projecting::project(std::int32_t partition, Owned& owned,
                           std::span<const RawMessage> messages) {
  Producer& producer = *owned.producer;
  if (Status begun = producer.begin(); !begun) return begun;
  if (!owned.missing.empty()) {
    if (Status sent = send(producer, projection_.missing(owned.missing)); !sent) return sent;
  }
  while (!messages.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < messages.size() && bytes < kPieceBytes; ++count) {
      bytes += messages[count].text.size();
    }
    const auto parts = projection_.project(partition, messages.first(count));
    for (const ShardPart& part : parts) {
      if (!part.missing.empty() && part.shard == shards_.front()) all_.note(part.missing);
    }
    if (Status sent = send(producer, parts); !sent) return sent;
    messages = messages.subspan(count);
  }
  if (Status sent = producer.send_progress(*consumer_, all_.names.raw, partition, {owned.next, {}});
      !sent) {
    return sent;
  }
  if (Status committed = producer.commit(); !committed) return committed;
  owned.committed = owned.next;
  owned.missing.clear();
  return {};
}

Status Projecting::send(Producer& producer, const std::vector<ShardPart>& parts) const {
  for (const ShardPart& part : parts) {
    const std::string shard = name(part.shard);
    const auto partition = partition_of(all_.options.counts, shard).value_or(0);
    if (Status sent = producer.send(all_.names.shards(), static_cast<std::int32_t>(partition),
                                    shard, print(part));
        !sent) {
      return sent;
    }
  }
  return {};
}

}  // namespace

Status project(const Surroundings& all) {
  return again_and_again(all, "projector", [&] { return Projecting(all).run(); });
}

}  // namespace ouro::kafka
