// The flags of 'ouro serve' with which transactions come from Kafka.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace ouro::cli {

struct KafkaFlags {
  KafkaOptions options;
  std::vector<std::string> roles;     // None: all.
  std::vector<std::string> settings;  // "NAME=VALUE"

  [[nodiscard]] bool given() const { return !options.brokers.empty(); }
};
void add_kafka_flags(CLI::App& app, KafkaFlags& flags);

// Sets the options by the other flags, and by those of the service. Returns what is wrong with
// these, or nothing. REQUIRES: flags.given().
[[nodiscard]] std::optional<std::string> apply(KafkaFlags& flags, const ServeOptions& service);

// A paragraph for the man page.
extern const char* const kKafkaDetails;

}  // namespace ouro::cli
