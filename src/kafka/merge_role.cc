// The merger: reads what was found in all shards, and shows it as 'ouro serve' shows what it found
// itself. It keeps nothing: the topic of verdicts has all events, in one order, and the last
// verdict on each shard, so every merger shows the same under the same numbers.

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "kafka/board.h"
#include "kafka/roles.h"
#include "net/address.h"
#include "serve/batch_queue.h"
#include "serve/event_hub.h"
#include "serve/http_service.h"
#include "serve/monitor.h"

namespace ouro::kafka {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMeasurePause = std::chrono::seconds(1);
constexpr auto kLastLook = std::chrono::seconds(5);

class Merging {
 public:
  explicit Merging(const Surroundings& all)
      : all_(all),
        board_(all.options.counts, all.options.stream.level),
        queue_(0),
        hub_({.file = {}, .event = all.options.event ? later_events() : nullptr, .counters = {}}),
        monitor_(all.options.stream, queue_, hub_) {}
  ~Merging() {
    hub_.stop();
    if (http_) http_->stop();
  }

  Status open(ServeAddresses& addresses) {
    queue_.close();
    if (Status opened = hub_.open(); !opened || all_.options.http.empty()) return opened;
    auto address = net::parse_address(all_.options.http);
    if (!address.ok()) return address.error();
    http_.emplace(
        serving::HttpService::Options{.token = all_.options.token,
                                      .body_limit = 0,
                                      .rules = {},
                                      .elsewhere = "Kafka, in topic " + all_.options.topic},
        queue_, hub_, monitor_);
    const auto port = http_->start(*address);
    if (!port.ok()) return port.error();
    address->port = *port;
    addresses.http = fmt::format("http://{}/", net::to_string(*address));
    return {};
  }

  // Reads all verdicts, again if need be: those that were taken before are known.
  Ended run() {
    auto reader = Consumer::read(all_.connection, all_.names.verdicts(), 0);
    if (!reader.ok()) return {reader.error()};
    for (Clock::time_point measured{}; !all_.stop;) {
      if (Ended taken = take(**reader); !taken.status) return taken;
      if (Clock::now() - measured < kMeasurePause) continue;
      measured = Clock::now();
      if (!measure()) {
        watcher_.reset();
        board_.lose_measure();
      }
      monitor_.update(board_.vitals(Board::When::Running, measured));
    }
    return {};
  }

  ServeReport finish() {
    at_end_ = false;
    // What is there now may still be on its way here.
    bool known = measure().ok();
    auto reader = Consumer::read(all_.connection, all_.names.verdicts(), 0);
    const auto until = Clock::now() + kLastLook;
    while (known && Clock::now() < until && !(at_end_ && board_.caught_up())) {
      known = reader.ok() && take(**reader).status && measure();
    }
    if (!known) board_.lose_measure();
    const auto now = Clock::now();
    const serving::Vitals vitals = board_.vitals(Board::When::Finished, now);
    monitor_.update(vitals);
    static_cast<void>(hub_.drain());
    return {.level = all_.options.stream.level,
            .outcome = monitor_.outcome(),
            .summary = vitals.stream,
            .doubts = monitor_.doubts(),
            .events = hub_.last(),
            .seconds = std::chrono::duration<double>(now - started_).count()};
  }

 private:
  // Events that were given to somebody before have the same numbers again.
  std::function<void(const std::string&)> later_events() {
    return [this](const std::string& line) {
      if (++given_ > all_.options.event_after) all_.options.event(line);
    };
  }
  Ended take(Consumer& reader);
  Status measure();

  const Surroundings& all_;
  const Clock::time_point started_ = Clock::now();
  Board board_;
  serving::BatchQueue queue_;  // Takes nothing.
  std::uint64_t given_ = 0;
  serving::EventHub hub_;
  serving::Monitor monitor_;
  std::optional<serving::HttpService> http_;
  std::unique_ptr<Consumer> watcher_;  // Of what the projectors have read.
  bool at_end_ = false;
};

Ended Merging::take(Consumer& reader) {
  const auto polled = reader.poll(kPollBytes, kPollPatience);
  if (!polled.ok()) return {polled.error()};
  for (const Message& message : polled->messages) {
    if (!message.value) continue;
    auto taken = board_.take(message.key, *message.value);
    if (!taken.ok()) {
      Error error = taken.error();
      error.file = all_.names.verdicts();
      return {error, true};
    }
    if (*taken) hub_.publish(**std::move(taken));
  }
  if (!polled->ends.empty()) at_end_ = true;
  return {};
}

// First what is not projected, then the ends of the shards: if there is nothing of the former, the
// shards have all.
Status Merging::measure() {
  if (watcher_ == nullptr) {
    auto watcher = Consumer::watch(all_.connection, all_.names.projectors());
    if (!watcher.ok()) return watcher.error();
    watcher_ = *std::move(watcher);
  }
  const auto partitions = partitions_of(all_.connection, all_.names.raw);
  if (!partitions.ok()) return partitions.error();
  std::int64_t projected = 0;
  std::int64_t raw_end = 0;
  for (std::uint32_t p = 0; p < *partitions; ++p) {
    const auto partition = static_cast<std::int32_t>(p);
    const auto bounds = watcher_->bounds(all_.names.raw, partition);
    if (!bounds.ok()) return bounds.error();
    const auto progress = watcher_->progress(all_.names.raw, partition);
    if (!progress.ok()) return progress.error();
    projected += *progress ? (*progress)->offset : bounds->begin;
    raw_end += bounds->end;
  }
  std::vector<std::int64_t> ends;
  for (std::size_t p = 0; p < shards_of(all_.options.counts).size(); ++p) {
    const auto bounds = watcher_->bounds(all_.names.shards(), static_cast<std::int32_t>(p));
    if (!bounds.ok()) return bounds.error();
    ends.push_back(bounds->end);
  }
  board_.measure(projected, raw_end, ends, Clock::now());
  return {};
}

}  // namespace

Result<ServeReport> run_merger(const Surroundings& all,
                               const std::function<void(const ServeAddresses&)>& ready) {
  Merging merging(all);
  ServeAddresses addresses;
  if (Status opened = merging.open(addresses); !opened) return opened.error();
  ready(addresses);
  if (Status done = again_and_again(all, "merger", [&] { return merging.run(); }); !done) {
    return done.error();
  }
  return merging.finish();
}

}  // namespace ouro::kafka
