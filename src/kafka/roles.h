// What a process of a group does: projects, checks, merges. Each role has a thread of its own.
//
// Whatever goes wrong with brokers or with the group, a role begins anew: it drops what it has and
// joins again. That loses nothing, since all that counts is in committed transactions, and doubles
// nothing, since what it began is aborted before anybody goes on in its place.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "kafka/client.h"
#include "ouro/kafka.h"
#include "ouro/result.h"

namespace ouro::kafka {

// The names of all that a group has in Kafka.
struct Names {
  std::string raw;  // The topic of transactions.
  std::string base;
  explicit Names(const KafkaOptions& options)
      : raw(options.topic), base(options.topic + '.' + options.group) {}
  [[nodiscard]] std::string shards() const { return base + ".shards"; }
  [[nodiscard]] std::string states() const { return base + ".states"; }
  [[nodiscard]] std::string verdicts() const { return base + ".verdicts"; }
  [[nodiscard]] std::string projectors() const { return base + ".projectors"; }
  [[nodiscard]] std::string checkers() const { return base + ".checkers"; }
};

// How much a role takes at once, and how long it waits for that.
inline constexpr std::size_t kPollBytes = std::size_t{2} << 20;
inline constexpr auto kPollPatience = std::chrono::milliseconds(50);

// What all roles share.
struct Surroundings {
  const KafkaOptions& options;
  const Connection& connection;
  const Names& names;
  const std::atomic<bool>& stop;
  std::function<void(const std::string&)> note;  // Never empty; thread-safe.
};

// Each runs until `stop` is true. The error is one that beginning anew does not mend.
[[nodiscard]] Status run_projector(const Surroundings& all);
[[nodiscard]] Status run_checker(const Surroundings& all);
// Calls `ready` when clients can connect.
[[nodiscard]] Result<ServeReport> run_merger(
    const Surroundings& all, const std::function<void(const ServeAddresses&)>& ready);

// How a part of a role's work ended.
struct Ended {
  Status status;
  bool for_good = false;  // The error is one that beginning anew does not mend.
};
// Calls `work` until `stop` is true or its error is for good. Notes an error once, until work went
// on for a while.
[[nodiscard]] Status again_and_again(const Surroundings& all, const std::string& role,
                                     const std::function<Ended()>& work);

}  // namespace ouro::kafka
