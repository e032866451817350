#include "cli/serve_kafka.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.h"

namespace ouro::cli {

const char* const kKafkaDetails =
    "With --kafka, transactions come from a topic of Kafka, as native text, and several processes "
    "can share the work. A projector cuts transactions into N shards of keys, M of sessions, and "
    "two others, and writes these to the topic T.G.shards, one partition for each shard. Checkers "
    "are a consumer group; each judges the shards that it is given, and their states are in the "
    "topic T.G.states, so that any other can go on. A merger shows what was found in all shards, "
    "with one page and one set of metrics; what is found is in the topic T.G.verdicts. A process "
    "has all of these roles unless --role says which. All processes of a group need the same "
    "level, time-out, initial value and numbers of shards. Transactions of one session must be in "
    "one partition of T: use the session as the key of messages. {} says what survives what.";

void add_kafka_flags(CLI::App& app, KafkaFlags& flags) {
  KafkaOptions& options = flags.options;
  app.add_option("--kafka", options.brokers, "take transactions from Kafka: its brokers")
      ->type_name("HOST:PORT,...");
  app.add_option("--topic", options.topic, "the topic of transactions")
      ->type_name("T")
      ->group(kMinor);
  app.add_option("--group", options.group, "whoever works together [ouro]")
      ->type_name("G")
      ->group(kMinor);
  app.add_option("--role", flags.roles, "what this process does, with --kafka [all]")
      ->type_name("projector|checker|merger")
      ->check(one_of({"projector", "checker", "merger"}))
      ->group(kMinor);
  app.add_option("--keys", options.counts.keys, "how many shards of keys, with --kafka [1]")
      ->type_name("N")
      ->check(whole_number())
      ->group(kMinor);
  app.add_option("--sessions", options.counts.sessions,
                 "how many shards of sessions, with --kafka [1]")
      ->type_name("M")
      ->check(whole_number())
      ->group(kMinor);
  app.add_option("--kafka-setting", flags.settings, "what else librdkafka is told")
      ->type_name("NAME=VALUE")
      ->group(kMinor);
}

std::optional<std::string> apply(KafkaFlags& flags, const ServeOptions& service) {
  KafkaOptions& options = flags.options;
  if (options.topic.empty()) return "--kafka needs the name of a topic; see --topic";
  if (service.input >= 0 || !service.tcp.empty() || !service.follow.empty()) {
    return "with --kafka there is no other input";
  }
  if (!service.state.empty()) return "with --kafka all state is in topics; leave out --state";
  if (!service.webhook.empty()) return "with --kafka there is no webhook; read T.G.verdicts";
  for (const std::string& setting : flags.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == setting.npos) {
      return fmt::format("--kafka-setting '{}': write NAME=VALUE", setting);
    }
    options.settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const auto has = [&](const char* role) {
    return flags.roles.empty() ||
           std::find(flags.roles.begin(), flags.roles.end(), role) != flags.roles.end();
  };
  options.projects = has("projector");
  options.checks = has("checker");
  options.merges = has("merger");
  options.stream = service.stream;
  options.initial = service.initial;
  options.checkpoint = service.checkpoint;
  options.http = service.http;
  options.token = service.token;
  options.insecure = service.insecure;
  options.event = service.event;
  options.note = service.note;
  options.ready = service.ready;
  options.stop = service.stop;
  return std::nullopt;
}

}  // namespace ouro::cli
