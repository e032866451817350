// The checker: a member of the group that checks shards, one for each partition that it is given.
//
// The state of a shard is in the topic of states, with the offset up to which it goes. Whoever is
// given the shard loads that and reads on from there. Each shard has a producer of its own, whose
// name is that of the shard: opening it ends whatever a former owner began, so that only one writes
// states and verdicts of a shard. What was told after the last state is found again, with the same
// numbers; the progress of the group says how many of these events were told, so none is told
// twice.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/temporary_folder.h"
#include "kafka/roles.h"
#include "kafka/shard_check.h"

namespace ouro::kafka {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTellPause = std::chrono::milliseconds(200);  // Between verdicts on a shard.

constexpr auto kDrain = std::chrono::seconds(5);

// A shard that this process checks.
struct Owned {
  std::unique_ptr<Producer> producer;
  TemporaryFolder folder;
  std::optional<ShardCheck> check;
  std::vector<ToldEvent> events;  // Not sent yet.
  std::int64_t next = 0;          // The offset of the next message.
  std::int64_t sent = 0;          // The offset of the verdict that was sent last.
  std::int64_t again_until = 0;   // Before this offset, all was checked and told once before.
  std::uint64_t told = 0;         // How many events were told, at least.
  std::int64_t saved = -1;        // The offset of the state that was saved last; -1: none.
  std::uint64_t bytes = 0;        // Taken since then.
  bool at_end = false;            // There was nothing more.
  Clock::time_point spoke = {};   // When a verdict was sent.
  Clock::time_point saved_at = Clock::now();
};

class Checking {
 public:
  explicit Checking(const Surroundings& all) : all_(all), shards_(shards_of(all.options.counts)) {}

  Ended run() {
    auto joined = Consumer::join(
        all_.connection, all_.names.shards(),
        {.group = all_.names.checkers(),
         .gained = [this](std::int32_t partition) { return gain(partition); },
         .losing = [this](std::int32_t partition, bool lost) { lose(partition, lost); }});
    if (!joined.ok()) return {joined.error()};
    consumer_ = *std::move(joined);
    Status status;
    while (status && (!all_.stop || drains())) {
      const auto polled = consumer_->poll(kPollBytes, kPollPatience);
      status = polled.ok() ? take(*polled) : Status(polled.error());
    }
    useless_ = !status;
    consumer_->leave();
    return {status, for_good_};
  }

 private:
  // If this process shows the verdict, too, that should not lack what is here already.
  bool drains() {
    const auto now = Clock::now();
    if (!stopped_) stopped_ = now;
    const auto all_read = std::all_of(owned_.begin(), owned_.end(),
                                      [](const auto& each) { return each.second.at_end; });
    return all_.options.merges && !all_read && now - *stopped_ < kDrain;
  }
  Result<std::int64_t> gain(std::int32_t partition);
  Result<StateRecords> read_state(std::int32_t partition) const;
  Status load(std::int32_t partition, Owned& owned);
  void lose(std::int32_t partition, bool lost);
  void share_memory();
  Status take(const Consumer::Polled& polled);
  Status take(const Message& message, Owned& owned);
  enum class Save : std::uint8_t { IfDue, Now };
  // Sends what is new about a shard, and saves it.
  Status tell(std::int32_t partition, Owned& owned, Save when);
  Status send(std::int32_t partition, Owned& owned, bool save);
  Status send_verdict(std::int32_t partition, Owned& owned);
  Error for_good(Error error) {
    for_good_ = true;
    return error;
  }

  const Surroundings& all_;
  const std::vector<ShardId> shards_;
  std::map<std::int32_t, Owned> owned_;
  bool for_good_ = false;
  std::optional<Clock::time_point> stopped_;
  bool useless_ = false;  // What is here must not be saved.
  std::unique_ptr<Consumer> consumer_;
};

// The producer comes first: from then on nobody else writes what is read here.
Result<std::int64_t> Checking::gain(std::int32_t partition) {
  const std::string shard = name(shards_[static_cast<std::size_t>(partition)]);
  Owned owned;
  auto producer =
      Producer::open(all_.connection, fmt::format("{}.{}", all_.names.checkers(), shard));
  if (!producer.ok()) return producer.error();
  owned.producer = *std::move(producer);
  if (Status loaded = load(partition, owned); !loaded) return loaded.error();
  const std::int64_t begin = owned.next;
  owned_.insert_or_assign(partition, std::move(owned));
  share_memory();
  return begin;
}

Status Checking::load(std::int32_t partition, Owned& owned) {
  const auto progress = consumer_->progress(all_.names.shards(), partition);
  if (!progress.ok()) return progress.error();
  if (*progress) {
    owned.again_until = (*progress)->offset;
    const std::string& note = (*progress)->note;
    std::from_chars(note.data(), note.data() + note.size(), owned.told);
  }
  const auto records = read_state(partition);
  if (!records.ok()) return records.error();
  auto folder = TemporaryFolder::make("ouro-shard-");
  if (!folder.ok()) return for_good(folder.error());
  owned.folder = *std::move(folder);
  auto check = ShardCheck::open({.shard = shards_[static_cast<std::size_t>(partition)],
                                 .counts = all_.options.counts,
                                 .stream = all_.options.stream,
                                 .folder = owned.folder.path()},
                                *records);
  if (!check.ok()) return for_good(check.error());
  owned.check.emplace(*std::move(check));
  owned.next = owned.check->begin();
  if (!records->empty()) owned.saved = owned.next;
  const auto bounds = consumer_->bounds(all_.names.shards(), partition);
  if (!bounds.ok()) return bounds.error();
  if (owned.next >= bounds->begin) return {};
  Error error;
  error.file = all_.names.shards();
  error.what = fmt::format(
      "partition {}: messages from offset {} to {} were deleted before they were checked; begin "
      "anew with another --group",
      partition, owned.next, bounds->begin - 1);
  return for_good(error);
}

Result<StateRecords> Checking::read_state(std::int32_t partition) const {
  auto reader = Consumer::read(all_.connection, all_.names.states(), partition);
  if (!reader.ok()) return reader.error();
  StateRecords records;
  const auto until = Clock::now() + std::chrono::minutes(5);
  while (Clock::now() < until && !all_.stop) {
    auto polled = (*reader)->poll(kPollBytes, kPollPatience);
    if (!polled.ok()) return polled.error();
    for (Message& message : polled->messages) {
      if (message.value) {
        records[message.key] = *std::move(message.value);
      } else {
        records.erase(message.key);
      }
    }
    if (!polled->ends.empty()) return records;
  }
  Error error;
  error.file = all_.names.states();
  error.what = "cannot be read to its end";
  return error;
}

// If it is still ours, the next owner need not do anything again.
void Checking::lose(std::int32_t partition, bool lost) {
  const auto found = owned_.find(partition);
  if (found == owned_.end()) return;
  if (!lost && !useless_) {
    if (Status told = tell(partition, found->second, Save::Now); !told) {
      all_.note(fmt::format("{} was not saved: {}",
                            name(shards_[static_cast<std::size_t>(partition)]),
                            told.error().to_string()));
    }
  }
  owned_.erase(found);
  share_memory();
}

void Checking::share_memory() {
  if (all_.options.stream.memory == 0 || owned_.empty()) return;
  const std::size_t share = std::max<std::size_t>(all_.options.stream.memory / owned_.size(), 1);
  for (auto& [partition, owned] : owned_) owned.check->limit(share);
}

Status Checking::take(const Consumer::Polled& polled) {
  for (const Message& message : polled.messages) {
    const auto owner = owned_.find(message.partition);
    if (owner == owned_.end() || message.offset < owner->second.next) continue;
    if (Status taken = take(message, owner->second); !taken) return taken;
  }
  for (const auto& [partition, end] : polled.ends) {
    const auto owner = owned_.find(partition);
    if (owner == owned_.end()) continue;
    owner->second.next = std::max(owner->second.next, end);
    owner->second.at_end = true;
  }
  for (auto& [partition, owned] : owned_) {
    if (Status told = tell(partition, owned, Save::IfDue); !told) return told;
  }
  return {};
}

Status Checking::take(const Message& message, Owned& owned) {
  if (Status taken = owned.check->take(message.value.value_or("")); !taken) {
    return for_good(taken.error());
  }
  for (ToldEvent& event : owned.check->poll()) {
    if (event.number > owned.told) owned.events.push_back(std::move(event));
  }
  owned.next = message.offset + 1;
  owned.bytes += message.value ? message.value->size() : 0;
  owned.at_end = false;
  return {};
}

Status Checking::tell(std::int32_t partition, Owned& owned, Save when) {
  const auto now = Clock::now();
  if (owned.next < owned.again_until && when == Save::IfDue) return {};
  const bool changed = owned.next > owned.saved;
  const bool due = now - owned.saved_at >= all_.options.checkpoint ||
                   owned.bytes >= all_.options.checkpoint_bytes;
  const bool save = changed && (due || when == Save::Now);
  const bool news = owned.next > owned.sent && (now - owned.spoke >= kTellPause);
  return save || news ? send(partition, owned, save) : Status();
}

Status Checking::send(std::int32_t partition, Owned& owned, bool save) {
  Producer& producer = *owned.producer;
  if (Status begun = producer.begin(); !begun) return begun;
  if (Status sent = send_verdict(partition, owned); !sent) return sent;
  if (save) {
    const RecordSink sink = [&](const std::string& record,
                                std::optional<std::string_view> content) {
      return producer.send(all_.names.states(), partition, record, content);
    };
    if (Status sent = owned.check->save(owned.next, sink); !sent) return sent;
  }
  if (Status committed = producer.commit(); !committed) return committed;
  owned.events.clear();
  owned.sent = owned.next;
  owned.spoke = Clock::now();
  if (!save) return {};
  owned.saved = owned.next;
  owned.saved_at = owned.spoke;
  owned.bytes = 0;
  return {};
}

// What was told stays so: while messages are checked again, nothing is told.
Status Checking::send_verdict(std::int32_t partition, Owned& owned) {
  if (owned.next < owned.again_until) return {};
  Producer& producer = *owned.producer;
  ShardTally tally = owned.check->tally();
  const std::string shard = name(tally.shard);
  tally.offset = owned.next;
  if (owned.check->clock() > StreamTime{0}) {
    const auto lag = std::chrono::system_clock::now().time_since_epoch() - owned.check->clock();
    tally.lag_seconds = std::max(0.0, std::chrono::duration<double>(lag).count());
  }
  for (const ToldEvent& event : owned.events) {
    if (Status sent = producer.send(all_.names.verdicts(), 0,
                                    fmt::format("{}/{}", shard, event.number), event.line);
        !sent) {
      return sent;
    }
  }
  if (Status sent = producer.send(all_.names.verdicts(), 0, shard, message_of(tally)); !sent) {
    return sent;
  }
  owned.told = std::max(owned.told, tally.events);
  return producer.send_progress(*consumer_, all_.names.shards(), partition,
                                {owned.next, std::to_string(owned.told)});
}

}  // namespace

Status run_checker(const Surroundings& all) {
  return again_and_again(all, "checker", [&] { return Checking(all).run(); });
}

}  // namespace ouro::kafka
