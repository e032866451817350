#include "kafka/client.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <mutex>
#include <thread>
#include <utility>

namespace ouro::kafka {
namespace {

constexpr int kAnswerMs = 10'000;  // How long to wait for an answer of a broker.
constexpr int kCommitMs = 30'000;  // The same for the end of a transaction.
constexpr int kTopicsMs = 30'000;  // The same until topics are there.
constexpr std::size_t kReason = 512;
constexpr const char* kLargestMessage = "33554432";

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* value) const {
    if (value != nullptr) Free(value);
  }
};
using Handle = std::unique_ptr<rd_kafka_t, Freed<rd_kafka_t, rd_kafka_destroy>>;
using Conf = std::unique_ptr<rd_kafka_conf_t, Freed<rd_kafka_conf_t, rd_kafka_conf_destroy>>;
using Partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t,
                    Freed<rd_kafka_topic_partition_list_t, rd_kafka_topic_partition_list_destroy>>;
using Trouble = std::unique_ptr<rd_kafka_error_t, Freed<rd_kafka_error_t, rd_kafka_error_destroy>>;
using Got =
    std::unique_ptr<rd_kafka_message_t, Freed<rd_kafka_message_t, rd_kafka_message_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Freed<rd_kafka_event_t, rd_kafka_event_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Freed<rd_kafka_queue_t, rd_kafka_queue_destroy>>;
using Topic = std::unique_ptr<rd_kafka_topic_t, Freed<rd_kafka_topic_t, rd_kafka_topic_destroy>>;
using Options = std::unique_ptr<rd_kafka_AdminOptions_t,
                                Freed<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>>;
using NewTopic =
    std::unique_ptr<rd_kafka_NewTopic_t, Freed<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>>;
using Metadata = std::unique_ptr<
    rd_kafka_consumer_group_metadata_t,
    Freed<rd_kafka_consumer_group_metadata_t, rd_kafka_consumer_group_metadata_destroy>>;

Error complain(const std::string& brokers, std::string what) {
  return Error{.file = brokers, .line = {}, .offset = {}, .what = std::move(what)};
}
Error complain(const std::string& brokers, rd_kafka_resp_err_t code) {
  return complain(brokers, rd_kafka_err2str(code));
}

using Settings = std::vector<std::pair<std::string, std::string>>;

void keep_silent(const rd_kafka_t*, int, const char*, const char*) {}

// A configuration of what all clients have, `own`, and what the user says.
Result<Conf> configure(const Connection& connection, const Settings& own) {
  Conf conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), keep_silent);
  Settings all = {{"bootstrap.servers", connection.brokers},
                  {"client.id", "ouro"},
                  {"reconnect.backoff.max.ms", "1000"},
                  {"topic.metadata.refresh.interval.ms", "30000"}};
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), connection.settings.begin(), connection.settings.end());
  for (const auto& [name, value] : all) {
    std::array<char, kReason> reason{};
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(), reason.size()) !=
        RD_KAFKA_CONF_OK) {
      return complain({}, fmt::format("{}={}: {}", name, value, reason.data()));
    }
  }
  return conf;
}

Result<Handle> make(rd_kafka_type_t type, Conf conf, const std::string& brokers) {
  std::array<char, kReason> reason{};
  Handle handle(rd_kafka_new(type, conf.get(), reason.data(), reason.size()));
  if (handle == nullptr) return complain(brokers, reason.data());
  static_cast<void>(conf.release());  // It belongs to the handle now.
  return handle;
}

Settings consumer_settings(const std::string& group) {
  return {{"group.id", group},
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"isolation.level", "read_committed"},
          {"enable.partition.eof", "true"},
          {"auto.offset.reset", "error"},
          {"partition.assignment.strategy", "cooperative-sticky"},
          {"session.timeout.ms", "10000"},
          {"max.poll.interval.ms", "600000"},
          {"fetch.wait.max.ms", "100"},
          {"queued.max.messages.kbytes", "16384"},
          {"receive.message.max.bytes", "134217728"}};
}

Partitions one_partition(const std::string& topic, std::int32_t partition) {
  Partitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  return list;
}

}  // namespace

struct Consumer::State {
  std::string brokers;
  std::string topic;
  Member member;
  bool joined = false;
  std::optional<Error> failed = {};
  Handle handle = {};

  void gain(rd_kafka_topic_partition_list_t* list);
  void lose(rd_kafka_topic_partition_list_t* list);
  static void rebalance(rd_kafka_t* handle, rd_kafka_resp_err_t what,
                        rd_kafka_topic_partition_list_t* list, void* opaque);
};

// Partitions that were gained before one failed are used until poll() has told the error.
void Consumer::State::gain(rd_kafka_topic_partition_list_t* list) {
  for (int i = 0; i < list->cnt && !failed; ++i) {
    const auto begin = member.gained(list->elems[i].partition);
    if (!begin.ok()) failed = begin.error();
    if (begin.ok()) list->elems[i].offset = *begin;
  }
  const Trouble trouble(rd_kafka_incremental_assign(handle.get(), list));
  if (trouble != nullptr && !failed)
    failed = complain(brokers, rd_kafka_error_string(trouble.get()));
}

void Consumer::State::lose(rd_kafka_topic_partition_list_t* list) {
  const bool lost = rd_kafka_assignment_lost(handle.get()) != 0 || failed.has_value();
  for (int i = 0; i < list->cnt; ++i) member.losing(list->elems[i].partition, lost);
  const Trouble trouble(rd_kafka_incremental_unassign(handle.get(), list));
  if (trouble != nullptr && !failed)
    failed = complain(brokers, rd_kafka_error_string(trouble.get()));
}

void Consumer::State::rebalance(rd_kafka_t*, rd_kafka_resp_err_t what,
                                rd_kafka_topic_partition_list_t* list, void* opaque) {
  auto& state = *static_cast<State*>(opaque);
  if (what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) return state.gain(list);
  state.lose(list);
}

Consumer::Consumer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Consumer::~Consumer() { leave(); }

void Consumer::leave() {
  if (std::exchange(state_->joined, false)) rd_kafka_consumer_close(state_->handle.get());
}

Result<std::unique_ptr<Consumer>> Consumer::join(const Connection& connection,
                                                 const std::string& topic, Member member) {
  auto consumer = watch(connection, member.group);
  if (!consumer.ok()) return consumer;
  State& state = *(*consumer)->state_;
  state.topic = topic;
  state.member = std::move(member);
  const Partitions list = one_partition(topic, RD_KAFKA_PARTITION_UA);
  const auto code = rd_kafka_subscribe(state.handle.get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return complain(connection.brokers, code);
  state.joined = true;
  return consumer;
}

Result<std::unique_ptr<Consumer>> Consumer::watch(const Connection& connection,
                                                  const std::string& group) {
  auto conf = configure(connection, consumer_settings(group));
  if (!conf.ok()) return conf.error();
  auto state =
      std::make_unique<State>(State{.brokers = connection.brokers, .topic = {}, .member = {}});
  rd_kafka_conf_set_opaque(conf->get(), state.get());
  rd_kafka_conf_set_rebalance_cb(conf->get(), State::rebalance);
  auto handle = make(RD_KAFKA_CONSUMER, *std::move(conf), connection.brokers);
  if (!handle.ok()) return handle.error();
  state->handle = *std::move(handle);
  rd_kafka_poll_set_consumer(state->handle.get());
  return std::unique_ptr<Consumer>(new Consumer(std::move(state)));
}

Result<std::unique_ptr<Consumer>> Consumer::read(const Connection& connection,
                                                 const std::string& topic, std::int32_t partition) {
  auto consumer = watch(connection, "ouro-reader");
  if (!consumer.ok()) return consumer;
  State& state = *(*consumer)->state_;
  const Partitions list = one_partition(topic, partition);
  list->elems[0].offset = RD_KAFKA_OFFSET_BEGINNING;
  const auto code = rd_kafka_assign(state.handle.get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return complain(connection.brokers, code);
  return consumer;
}

Result<Consumer::Polled> Consumer::poll(std::size_t most, std::chrono::milliseconds patience) {
  Polled polled;
  std::size_t bytes = 0;
  int wait = static_cast<int>(patience.count());
  while (bytes < most) {
    const Got got(rd_kafka_consumer_poll(state_->handle.get(), wait));
    if (state_->failed) return *state_->failed;
    if (got == nullptr) {
      polled.all = true;
      break;
    }
    if (got->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      polled.ends[got->partition] = got->offset;
      continue;
    }
    if (got->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return complain(state_->brokers, rd_kafka_message_errstr(got.get()));
    }
    polled.ends.erase(got->partition);
    rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    Message message{.partition = got->partition, .offset = got->offset, .key = {}, .value = {}};
    message.time_ms = rd_kafka_message_timestamp(got.get(), &kind);
    if (got->key != nullptr) message.key.assign(static_cast<const char*>(got->key), got->key_len);
    if (got->payload != nullptr) {
      message.value.emplace(static_cast<const char*>(got->payload), got->len);
    }
    bytes += got->len + 1;
    polled.messages.push_back(std::move(message));
    wait = 0;
  }
  return polled;
}

Result<std::optional<GroupProgress>> Consumer::progress(const std::string& topic,
                                                        std::int32_t partition) {
  const Partitions list = one_partition(topic, partition);
  auto code = rd_kafka_committed(state_->handle.get(), list.get(), kAnswerMs);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[0].err;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return complain(state_->brokers, code);
  const rd_kafka_topic_partition_t& known = list->elems[0];
  if (known.offset < 0) return std::optional<GroupProgress>();
  GroupProgress progress{.offset = known.offset, .note = {}};
  if (known.metadata != nullptr) {
    progress.note.assign(static_cast<const char*>(known.metadata), known.metadata_size);
  }
  return std::optional<GroupProgress>(std::move(progress));
}

Result<OffsetBounds> Consumer::bounds(const std::string& topic, std::int32_t partition) {
  OffsetBounds bounds;
  const auto code = rd_kafka_query_watermark_offsets(state_->handle.get(), topic.c_str(), partition,
                                                     &bounds.begin, &bounds.end, kAnswerMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return complain(state_->brokers, code);
  return bounds;
}

struct Producer::State {
  std::string brokers;
  bool open = false;  // A transaction has begun.
  Handle handle = {};

  // Nothing if there is no trouble; else the error, and the transaction is aborted.
  Status look_at(const Trouble& trouble) {
    return trouble == nullptr ? Status() : give_up(rd_kafka_error_string(trouble.get()));
  }
  Status give_up(const char* why) {
    Error error = complain(brokers, why);
    if (std::exchange(open, false)) {
      const Trouble ignored(rd_kafka_abort_transaction(handle.get(), kAnswerMs));
    }
    return error;
  }
};

Producer::Producer(std::unique_ptr<State> state) : state_(std::move(state)) {}

// What was not committed is of no use to anybody.
Producer::~Producer() {
  if (state_->open) {
    const Trouble ignored(rd_kafka_abort_transaction(state_->handle.get(), 1000));
  }
}

Result<std::unique_ptr<Producer>> Producer::open(const Connection& connection,
                                                 const std::string& name) {
  auto conf = configure(connection, {{"transactional.id", name},
                                     {"transaction.timeout.ms", "60000"},
                                     {"message.max.bytes", kLargestMessage},
                                     {"compression.codec", "lz4"}});
  if (!conf.ok()) return conf.error();
  auto handle = make(RD_KAFKA_PRODUCER, *std::move(conf), connection.brokers);
  if (!handle.ok()) return handle.error();
  auto state =
      std::make_unique<State>(State{.brokers = connection.brokers, .handle = *std::move(handle)});
  const Trouble trouble(rd_kafka_init_transactions(state->handle.get(), kCommitMs));
  if (Status begun = state->look_at(trouble); !begun) return begun.error();
  return std::unique_ptr<Producer>(new Producer(std::move(state)));
}

Status Producer::begin() {
  const Trouble trouble(rd_kafka_begin_transaction(state_->handle.get()));
  state_->open = trouble == nullptr;
  return state_->look_at(trouble);
}

Status Producer::send(const std::string& topic, std::int32_t partition, std::string_view key,
                      std::optional<std::string_view> value) {
  std::array<rd_kafka_vu_t, 5> parts{};
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = topic.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = partition;
  parts[2].vtype = RD_KAFKA_VTYPE_KEY;
  parts[2].u.mem.ptr = const_cast<char*>(key.data());  // These are copied.
  parts[2].u.mem.size = key.size();
  parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[3].u.mem.ptr = const_cast<char*>(value ? value->data() : nullptr);
  parts[3].u.mem.size = value ? value->size() : 0;
  parts[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[4].u.i = RD_KAFKA_MSG_F_COPY;
  for (;;) {
    const Trouble trouble(rd_kafka_produceva(state_->handle.get(), parts.data(), parts.size()));
    if (trouble == nullptr) return {};
    if (rd_kafka_error_code(trouble.get()) != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      return state_->look_at(trouble);
    }
    // Messages that no broker takes leave the queue with an error, which commit() tells.
    rd_kafka_poll(state_->handle.get(), 50);
  }
}

Status Producer::send_progress(const Consumer& consumer, const std::string& topic,
                               std::int32_t partition, const GroupProgress& progress) {
  const Partitions list = one_partition(topic, partition);
  list->elems[0].offset = progress.offset;
  if (!progress.note.empty()) {
    // The list frees it.
    char* const note = static_cast<char*>(rd_kafka_mem_malloc(nullptr, progress.note.size()));
    progress.note.copy(note, progress.note.size());
    list->elems[0].metadata = note;
    list->elems[0].metadata_size = progress.note.size();
  }
  const Metadata group(rd_kafka_consumer_group_metadata(consumer.state_->handle.get()));
  const Trouble trouble(rd_kafka_send_offsets_to_transaction(state_->handle.get(), list.get(),
                                                             group.get(), kCommitMs));
  return state_->look_at(trouble);
}

Status Producer::commit() {
  const Trouble trouble(rd_kafka_commit_transaction(state_->handle.get(), kCommitMs));
  if (trouble == nullptr) state_->open = false;
  return state_->look_at(trouble);
}

namespace {

// A client that only asks: it makes no topics by asking for them.
Result<Handle> administrator(const Connection& connection) {
  auto conf = configure(connection, {});
  if (!conf.ok()) return conf.error();
  return make(RD_KAFKA_CONSUMER, *std::move(conf), connection.brokers);
}

Result<std::uint32_t> count_partitions(rd_kafka_t* handle, const std::string& brokers,
                                       const std::string& topic) {
  const Topic known(rd_kafka_topic_new(handle, topic.c_str(), nullptr));
  const rd_kafka_metadata_t* metadata = nullptr;
  const auto code = rd_kafka_metadata(handle, 0, known.get(), &metadata, kAnswerMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return complain(brokers, code);
  const rd_kafka_metadata_topic_t& found = metadata->topics[0];
  const rd_kafka_resp_err_t error = found.err;
  auto count = static_cast<std::uint32_t>(found.partition_cnt);
  for (int p = 0; p < found.partition_cnt; ++p) {
    if (found.partitions[p].leader < 0) count = 0;  // Not yet.
  }
  rd_kafka_metadata_destroy(metadata);
  if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
      error == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
    return 0U;
  }
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return complain(brokers, fmt::format("{}: {}", topic, rd_kafka_err2str(error)));
  }
  return count;
}

Status make_topic(rd_kafka_t* handle, const std::string& brokers, const TopicPlan& plan) {
  std::array<char, kReason> reason{};
  const NewTopic topic(rd_kafka_NewTopic_new(plan.name.c_str(), static_cast<int>(plan.partitions),
                                             -1, reason.data(), reason.size()));
  if (topic == nullptr) return complain(brokers, fmt::format("{}: {}", plan.name, reason.data()));
  for (const auto& [name, value] : plan.settings) {
    static_cast<void>(rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str()));
  }
  const Options options(rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS));
  const Queue queue(rd_kafka_queue_new(handle));
  rd_kafka_NewTopic_t* topics[] = {topic.get()};
  rd_kafka_CreateTopics(handle, topics, 1, options.get(), queue.get());
  const Event event(rd_kafka_queue_poll(queue.get(), kTopicsMs));
  if (event == nullptr) return complain(brokers, "no broker answers");
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return complain(brokers, rd_kafka_event_error_string(event.get()));
  }
  std::size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  const auto code =
      count == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_topic_result_error(results[0]);
  // Another process of the group may have been quicker.
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
    return {};
  }
  const char* why = rd_kafka_topic_result_error_string(results[0]);
  return complain(brokers, fmt::format("topic {} cannot be made: {}", plan.name,
                                       why == nullptr ? rd_kafka_err2str(code) : why));
}

}  // namespace

Status make_topics(const Connection& connection, const std::vector<TopicPlan>& topics) {
  const auto handle = administrator(connection);
  if (!handle.ok()) return handle.error();
  for (const TopicPlan& plan : topics) {
    auto count = count_partitions(handle->get(), connection.brokers, plan.name);
    if (count.ok() && *count == 0) {
      if (Status made = make_topic(handle->get(), connection.brokers, plan); !made) return made;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTopicsMs);
    while (count.ok() && *count == 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      count = count_partitions(handle->get(), connection.brokers, plan.name);
    }
    if (!count.ok()) return count.error();
    if (*count == plan.partitions) continue;
    return complain(connection.brokers,
                    fmt::format("topic {} has {} partitions and not {}; give all processes the "
                                "same --keys and --sessions, or name another --group",
                                plan.name, *count, plan.partitions));
  }
  return {};
}

Result<std::uint32_t> partitions_of(const Connection& connection, const std::string& topic) {
  const auto handle = administrator(connection);
  if (!handle.ok()) return handle.error();
  return count_partitions(handle->get(), connection.brokers, topic);
}

}  // namespace ouro::kafka
