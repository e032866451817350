// Clients of Kafka, by librdkafka, which client.cc alone knows.
//
// Thread safety: each object is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/result.h"

namespace ouro::kafka {

struct Connection {
  std::string brokers;
  std::vector<std::pair<std::string, std::string>> settings;  // Of librdkafka.
};

struct Message {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t time_ms = 0;  // Since 1970; whether by the sender or the broker, the topic says.
  std::string key;
  std::optional<std::string> value;  // Nothing: what had this key is not needed any more.
};

// Where a member of a group has come to.
struct GroupProgress {
  std::int64_t offset = 0;  // Of the next message.
  std::string note;
};

struct OffsetBounds {
  std::int64_t begin = 0;  // The first message that is kept.
  std::int64_t end = 0;    // One past the last one that is committed.
};

class Consumer {
 public:
  // Called by poll() and by leave().
  struct Member {
    std::string group;
    // This process has got a partition; returns where to begin. The error makes poll() fail.
    std::function<Result<std::int64_t>(std::int32_t partition)> gained;
    // It is about to lose one; if `lost`, it has lost it already.
    std::function<void(std::int32_t partition, bool lost)> losing;
  };
  // Joins a group, whose members share the partitions of the topic.
  [[nodiscard]] static Result<std::unique_ptr<Consumer>> join(const Connection& connection,
                                                              const std::string& topic,
                                                              Member member);
  // Knows the group, but is no member: for progress() and bounds().
  [[nodiscard]] static Result<std::unique_ptr<Consumer>> watch(const Connection& connection,
                                                               const std::string& group);
  // Reads one partition from its beginning, by itself.
  [[nodiscard]] static Result<std::unique_ptr<Consumer>> read(const Connection& connection,
                                                              const std::string& topic,
                                                              std::int32_t partition);
  // Calls leave().
  ~Consumer();
  // Lets go of all partitions and leaves the group.
  void leave();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  struct Polled {
    std::vector<Message> messages;
    // For partitions that were read to their end: the offset there.
    std::map<std::int32_t, std::int64_t> ends;
    bool all = false;  // Nothing more has come yet.
  };
  // Returns messages that have come, of about `most` bytes; waits at most `patience` for one. Only
  // committed ones. The error says that this consumer has become useless.
  [[nodiscard]] Result<Polled> poll(std::size_t most, std::chrono::milliseconds patience);

  // What the group has committed; nothing if it has not.
  [[nodiscard]] Result<std::optional<GroupProgress>> progress(const std::string& topic,
                                                              std::int32_t partition);
  [[nodiscard]] Result<OffsetBounds> bounds(const std::string& topic, std::int32_t partition);

 private:
  friend class Producer;
  struct State;
  explicit Consumer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Sends messages in transactions: all messages of one, and how far their input was read, become
// visible at once or never.
class Producer {
 public:
  // Ends whatever another producer of this name has begun: from here on that cannot commit.
  [[nodiscard]] static Result<std::unique_ptr<Producer>> open(const Connection& connection,
                                                              const std::string& name);
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // After an error of any of these the transaction is aborted, and the producer useless.
  [[nodiscard]] Status begin();
  // Without a value: what had this key is not needed any more.
  [[nodiscard]] Status send(const std::string& topic, std::int32_t partition, std::string_view key,
                            std::optional<std::string_view> value);
  // How far the group of `consumer`, a member of it, has come.
  [[nodiscard]] Status send_progress(const Consumer& consumer, const std::string& topic,
                                     std::int32_t partition, const GroupProgress& progress);
  [[nodiscard]] Status commit();

 private:
  struct State;
  explicit Producer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct TopicPlan {
  std::string name;
  std::uint32_t partitions = 1;
  std::vector<std::pair<std::string, std::string>> settings = {};
};
// Makes the topics that do not exist. The error is also one that has another number of partitions.
[[nodiscard]] Status make_topics(const Connection& connection,
                                 const std::vector<TopicPlan>& topics);
// The number of partitions of a topic; zero if there is no such topic.
[[nodiscard]] Result<std::uint32_t> partitions_of(const Connection& connection,
                                                  const std::string& topic);

}  // namespace ouro::kafka
