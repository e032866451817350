// Checks a live database on several machines: transactions come from a topic of Kafka, are cut into
// shards (ouro/shard.h), and each shard is checked by whoever Kafka gives it to.
//
// Example (built and run as tests/example_kafka.cc):
//
//   ouro::KafkaOptions options;
//   options.brokers = "127.0.0.1:1";
//   options.topic = "transactions";
//   options.http = "127.0.0.1:0";
//   options.stop = &stop;
//   const auto report = ouro::serve_kafka(options);
//   if (!report.ok()) return fail(report.error());
//   if (report->merged) std::cout << ouro::describe(*report->merged);
//
// docs/scale.md says what is in which topic, and why nothing is lost or counted twice, whichever
// process or broker is killed.
//
// Thread safety: as for serve().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/result.h"
#include "ouro/serve.h"
#include "ouro/shard.h"
#include "ouro/stream.h"

namespace ouro {

struct KafkaOptions {
  std::string brokers;         // "db1:9092,db2:9092"
  std::string topic;           // Where transactions come from, as native text.
  std::string group = "ouro";  // Whoever works together; part of the names of topics and groups.
  // What else librdkafka is told, such as {"security.protocol", "ssl"}.
  std::vector<std::pair<std::string, std::string>> settings;

  // What this process does; at least one. All processes of a group need the same `counts`,
  // `stream` (its `memory` aside) and `initial`.
  bool projects = true;  // Cuts transactions into shards.
  bool checks = true;    // Checks the shards that it is given.
  bool merges = true;    // Shows what was found in all of them.

  ShardCounts counts;
  // How to judge. `stream.memory` is for all shards that this process checks; `stream.folder` is
  // ignored, since what does not fit goes to a temporary folder.
  StreamOptions stream;
  std::optional<std::int64_t> initial;  // What keys hold at the start; nothing: they are absent.
  // How often the state of a shard is saved: after so much time, or so many bytes of input.
  std::chrono::seconds checkpoint{30};
  std::uint64_t checkpoint_bytes = std::uint64_t{64} << 20;

  // Of the merger, as in ServeOptions. The numbers of events are the same after a restart.
  std::string http;
  std::string token;
  bool insecure = false;
  std::function<void(const std::string& line)> event;
  std::uint64_t event_after = 0;  // `event` gets all events after this number.

  const std::atomic<bool>* stop = nullptr;
  std::function<void(const ServeAddresses&)> ready;  // Called once, when all has begun.
  std::function<void(const std::string&)> note;
};

struct KafkaReport {
  // What was found in all shards; only if this process merges. Undecided: also if some of the
  // input has not been checked yet.
  std::optional<ServeReport> merged;
};

// Serves until `stop` turns true, whatever becomes of brokers meanwhile. The error is what kept it
// from starting; something in the topics that does not fit, such as other counts of shards; or a
// build without librdkafka.
[[nodiscard]] Result<KafkaReport> serve_kafka(const KafkaOptions& options);

}  // namespace ouro
