#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "kafka/message.h"
#include "kafka/roles.h"
#include "net/address.h"
#include "ouro/check.h"

namespace ouro {
namespace kafka {
namespace {

using Clock = std::chrono::steady_clock;

Error misuse(std::string what) {
  return Error{.file = {}, .line = {}, .offset = {}, .what = std::move(what)};
}

Status check_options(const KafkaOptions& options) {
  if (!decidable(options.stream.level, Evidence::Timestamps)) {
    return misuse(fmt::format("timestamps cannot decide {}; see 'ouro levels'",
                              info(options.stream.level).name));
  }
  if (options.topic.empty()) return misuse("no topic of transactions; name one with --topic");
  if (!options.projects && !options.checks && !options.merges) return misuse("no role");
  for (const std::uint32_t count : {options.counts.keys, options.counts.sessions}) {
    if (count >= 1 && count <= ShardCounts::kMost) continue;
    return misuse(fmt::format("there can be 1 to {} shards of a kind", ShardCounts::kMost));
  }
  if (!options.merges || options.http.empty() || !options.token.empty() || options.insecure) {
    return {};
  }
  const auto address = net::parse_address(options.http);
  if (!address.ok() || net::is_loopback(address->host)) return {};
  return misuse(fmt::format(
      "{}: other machines can connect there; set a token (OURO_TOKEN), or say --insecure",
      options.http));
}

// States and verdicts are kept as long as nothing newer has their name.
Status make_all_topics(const Surroundings& all) {
  const auto shards = static_cast<std::uint32_t>(shards_of(all.options.counts).size());
  return make_topics(all.connection, {{.name = all.names.shards(),
                                       .partitions = shards,
                                       .settings = {{"max.message.bytes", "33554432"}}},
                                      {.name = all.names.states(),
                                       .partitions = shards,
                                       .settings = {{"cleanup.policy", "compact"},
                                                    {"segment.bytes", "67108864"},
                                                    {"min.cleanable.dirty.ratio", "0.1"}}},
                                      {.name = all.names.verdicts(),
                                       .partitions = 1,
                                       .settings = {{"cleanup.policy", "compact"},
                                                    {"max.message.bytes", "33554432"},
                                                    {"segment.bytes", "67108864"}}}});
}

// Runs the roles of this process, each in a thread.
class Process {
 public:
  explicit Process(const KafkaOptions& options)
      : options_(options), connection_{options.brokers, options.settings}, names_(options) {}

  Result<KafkaReport> run() {
    const auto raw = partitions_of(connection_, names_.raw);
    if (!raw.ok()) return raw.error();
    if (*raw == 0) {
      return Error{.file = options_.brokers,
                   .line = {},
                   .offset = {},
                   .what = fmt::format("there is no topic {}", names_.raw)};
    }
    if (Status made = make_all_topics(surroundings(projector_)); !made) return made.error();
    const auto ready = [this](const ServeAddresses& addresses) {
      if (options_.ready) options_.ready(addresses);
    };
    if (!options_.merges) ready({});
    KafkaReport report;
    if (options_.projects) begin(projector_, run_projector);
    if (options_.checks) begin(checker_, run_checker);
    if (options_.merges) {
      begin(merger_, [&](const Surroundings& all) -> Status {
        auto merged = run_merger(all, ready);
        if (!merged.ok()) return merged.error();
        report.merged = *std::move(merged);
        return {};
      });
    }
    while (!ended_ && !(options_.stop != nullptr && *options_.stop)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    // In the order in which transactions pass, so that each still gets what there is.
    for (Role* const role : {&projector_, &checker_, &merger_}) {
      role->stop = true;
      if (role->thread.joinable()) role->thread.join();
    }
    if (problem_) return *problem_;
    return report;
  }

 private:
  struct Role {
    std::atomic<bool> stop{false};
    std::thread thread = {};
  };
  [[nodiscard]] Surroundings surroundings(const Role& role) {
    return {options_, connection_, names_, role.stop,
            [this](const std::string& text) { note(text); }};
  }
  void begin(Role& role, const std::function<Status(const Surroundings&)>& work) {
    role.thread = std::thread([this, &role, work] {
      const Status status = work(surroundings(role));
      const std::lock_guard lock(mutex_);
      if (!status && !problem_) problem_ = status.error();
      ended_ = true;  // The others cannot do without it.
    });
  }
  void note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (options_.note) options_.note(text);
  }

  const KafkaOptions& options_;
  const Connection connection_;
  const Names names_;
  Role projector_, checker_, merger_;
  std::atomic<bool> ended_{false};  // One of them has.
  std::mutex mutex_;                // Guards notes, and:
  std::optional<Error> problem_;
};

}  // namespace

Status again_and_again(const Surroundings& all, const std::string& role,
                       const std::function<Ended()>& work) {
  constexpr auto kPause = std::chrono::milliseconds(500);
  constexpr auto kGoodWhile = std::chrono::seconds(30);
  bool told = false;
  while (!all.stop) {
    const auto begun = Clock::now();
    const Ended ended = work();
    if (!ended.status && ended.for_good) return ended.status;
    if (ended.status || all.stop) continue;
    told = told && Clock::now() - begun < kGoodWhile;
    if (!std::exchange(told, true)) {
      all.note(fmt::format("{} begins anew: {}", role, ended.status.error().to_string()));
    }
    for (auto until = Clock::now() + kPause; Clock::now() < until && !all.stop;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  return {};
}

}  // namespace kafka

Result<KafkaReport> serve_kafka(const KafkaOptions& options) {
  if (Status fine = kafka::check_options(options); !fine) return fine.error();
  return kafka::Process(options).run();
}

}  // namespace ouro
